public import EventSourcing
public import Values

/// Takes a realm's owner back who was sent to a konnector's provider: with the browser that they went with,
/// and once.
public struct FinishConnection: TimedCommand {
    public var id: UUID
    public var konnector: UUID
    /// The session of the browser that they come with.
    public var browser: UUID
    public var outcome: ConnectionOutcome
    public var now: Timestamp

    public init(
        id: UUID, konnector: UUID, browser: UUID, outcome: ConnectionOutcome, now: Timestamp
    ) {
        self.id = id
        self.konnector = konnector
        self.browser = browser
        self.outcome = outcome
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notSignedIn
        /// The visit was not begun, or in another browser, or to another provider.
        case unknown
        /// The owner came back before, or was away for too long.
        case over
    }

    public struct Facts: RealmFacts {
        let owner: OwnersBrowser
        let connection: Versioned<ProviderVisit>

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            owner: try await .read(browser, from: streams),
            connection: try await streams.read(ProviderVisit.self, id))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let login = facts.owner.standing(at: now) else { throw .notSignedIn }
        guard let terms = facts.connection.state.terms, terms.konnector == konnector,
            terms.account == login.account, terms.browser == facts.owner.line
        else { throw .unknown }
        guard facts.connection.state.outcome == nil, now < terms.expiresAt else { throw .over }
        return Decision(
            ConnectionEvent.finished(outcome, account: terms.account), in: id)
    }
}
