public import EventSourcing
internal import JSON
public import Values

/// Who sends a notification.
public enum NotificationSender: Sendable, Equatable {
    /// An installation. Its categories stand in its own metadata.
    case installation(UUID)
    /// A web app or konnector that an installation opened. Its categories stand in the registry.
    case webApp(UUID, openedBy: UUID)

    /// Whose stream says that it may.
    var installation: UUID {
        switch self {
        case .installation(let id), .webApp(_, openedBy: let id): id
        }
    }

    /// The stream of the notification, derived from its request.
    public var stream: UUID {
        switch self {
        case .installation(let id), .webApp(let id, openedBy: _): id
        }
    }
}

/// Has a realm's owner told of something, by an app that they admitted.
public struct RequestNotification: AnsweringCommand, TimedCommand {
    /// The notification's stream.
    public var id: UUID
    public var sender: NotificationSender
    /// Whom it is for: the account of the token that was shown.
    public var account: UUID
    /// The stream of what it is about.
    public var source: UUID
    public var category: String
    public var content: NotificationContent
    /// A keyed digest of its state.
    public var state: SecretDigest
    /// Nil: as the category has it.
    public var priority: NotificationPriority?
    public var channels: [NotificationChannel]
    /// The earliest time of delivery; nil for at once.
    public var due: Timestamp?
    public var slug: String?
    public var now: Timestamp

    public init(
        id: UUID, sender: NotificationSender, account: UUID, source: UUID, category: String,
        content: NotificationContent, state: SecretDigest, priority: NotificationPriority? = nil,
        channels: [NotificationChannel] = [], due: Timestamp? = nil, slug: String? = nil,
        now: Timestamp
    ) {
        self.id = id
        self.sender = sender
        self.account = account
        self.source = source
        self.category = category
        self.content = content
        self.state = state
        self.priority = priority
        self.channels = channels
        self.due = due
        self.slug = slug
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The sender or the reader may not go on.
        case notAllowed
        /// The sender said nothing of such a category.
        case unknownCategory
        /// The delivery time is too far in the future.
        case tooLate
        case invalid(FieldFault)
    }

    public enum Outcome: Sendable, Equatable {
        case requested
        /// The state has not changed since this notification, so no new one is sent.
        case unchanged(since: UUID)
    }

    /// Seconds that a notification may wait.
    public static let longestDelay: Int64 = 366 * 86_400
    static let longestTitle = 200
    static let longestMessage = 2_000
    /// Devices take four kilobytes in all.
    static let largestMembers = 2_048

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let client: Versioned<Client>
        let webApp: Versioned<WebApp>?
        let account: Versioned<Account>
        let owner: Versioned<Owner>
        let source: Versioned<NotificationSource>
        let last: Versioned<Notification>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        _ = try await streams.readNew(Notification.self, id)
        let source = try await streams.read(NotificationSource.self, source)
        var last: Versioned<Notification>?
        if let id = source.state.last {
            last = try await streams.read(Notification.self, id)
        }
        var webApp: Versioned<WebApp>?
        if case .webApp(let id, openedBy: _) = sender {
            webApp = try await streams.read(WebApp.self, id)
        }
        return Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            client: try await streams.read(Client.self, sender.installation), webApp: webApp,
            account: try await streams.read(Account.self, account),
            owner: try await streams.read(Owner.self, Owner.stream), source: source, last: last)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard let metadata = facts.client.installation(at: now), facts.account.isWelcome,
            facts.owner.state.account == account
        else { throw .notAllowed }
        let (originator, categories) = try said(facts, by: metadata)
        guard let known = NotificationCategory(category, in: categories) else {
            throw .unknownCategory
        }
        try check()
        if known.isStateful, let last = facts.source.state.last, facts.source.state.state == state {
            return SettledDecision(.unchanged(since: last))
        }
        let wanted = channels.isEmpty ? [.mobile] : channels
        let terms = NotificationTerms(
            source: source, account: account, originator: originator, sender: sender.stream,
            slug: slug, category: category, priority: priority ?? known.defaultPriority,
            channels: wanted.contains(.mail) ? wanted : wanted + [.mail],
            isCollapsible: known.isCollapsible, due: max(due ?? now, now))
        var decision = Decision(NotificationEvent.requested(terms, content), in: id)
        if known.isCollapsible, let last = facts.last, last.exists, last.state.status == .due {
            decision.append(NotificationEvent.superseded(by: id), in: last.stream)
        }
        decision.append(NotificationSourceEvent.moved(to: id, state: state), in: source)
        return SettledDecision(decision, .requested)
    }

    /// What kind of sender it is, in the words of such apps, and what it said of its notifications.
    private func said(
        _ facts: Facts, by metadata: ClientMetadata
    ) throws(Rejection) -> (originator: String, categories: JSON?) {
        switch sender {
        case .installation: return ("oauth", metadata.notifications)
        case .webApp:
            guard let card = facts.webApp?.living else { throw .notAllowed }
            return (card.kind.rawValue, .object(card.notifications))
        }
    }

    private func check() throws(Rejection) {
        if let due, due > now.adding(seconds: Self.longestDelay) { throw .tooLate }
        let texts = [
            ("title", content.title, Self.longestTitle),
            ("message", content.message, Self.longestMessage),
            ("category_id", content.categoryID, Self.longestTitle),
            ("state", content.state, Self.longestTitle),
        ]
        for (name, text, limit) in texts where text.unicodeScalars.count > limit {
            throw .invalid(FieldFault(name, .tooLong(limit: limit)))
        }
        guard content.title.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            throw .invalid(FieldFault("title", .missing))
        }
        guard JSON.object(content.members).canonical().count <= Self.largestMembers else {
            throw .invalid(FieldFault("data", .tooLong(limit: Self.largestMembers)))
        }
    }
}
