public import EventSourcing
public import Values

/// Makes invites: to the realm or to one app, for any mailbox or for one.
public struct CreateInvites: TimedCommand {
    /// The streams that follow from their codes.
    public var invites: [UUID]
    public var app: UUID?
    public var mailbox: UUID?
    /// As long as the realm says, if nothing is said.
    public var days: Int64?
    public var now: Timestamp

    public init(
        invites: [UUID], app: UUID? = nil, mailbox: UUID? = nil, days: Int64? = nil,
        now: Timestamp
    ) {
        self.invites = invites
        self.app = app
        self.mailbox = mailbox
        self.days = days
        self.now = now
    }

    public static let mostAtOnce = 100
    public static let mostDays: Int64 = 365

    public enum Rejection: Error, Equatable, Sendable {
        case appNotFound
        case idTaken
        case invalid(FieldFault)
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let app: Versioned<App>?
        let areNew: Bool
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        var areNew = true
        for invite in invites.prefix(Self.mostAtOnce) {
            let known = try await streams.read(Invite.self, invite)
            areNew = areNew && !known.exists
        }
        guard let app else {
            return Facts(realm: realm, settings: settings, app: nil, areNew: areNew)
        }
        return Facts(
            realm: realm, settings: settings, app: try await streams.read(App.self, app),
            areNew: areNew)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        if let app = facts.app, !app.isAlive { throw .appNotFound }
        guard (1...Self.mostAtOnce).contains(invites.count) else {
            throw .invalid(
                FieldFault("count", .outOfRange(lowest: 1, highest: Int64(Self.mostAtOnce))))
        }
        if let days, !(1...Self.mostDays).contains(days) {
            throw .invalid(
                FieldFault("expires_in_days", .outOfRange(lowest: 1, highest: Self.mostDays)))
        }
        guard facts.areNew, Set(invites).count == invites.count else { throw .idTaken }
        let lifetime = days.map { $0 * 86_400 } ?? facts.settings[SettingCatalogue.inviteLifetime]
        let terms = InviteTerms(
            app: app, mailbox: mailbox, expiresAt: now.adding(seconds: lifetime))
        var decision = Decision()
        for invite in invites { decision.append(InviteEvent.created(terms), in: invite) }
        return decision
    }
}
