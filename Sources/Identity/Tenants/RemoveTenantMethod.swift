public import EventSourcing
public import Values

/// Takes a way to sign in within a tenant's apps from a person: a device's key, or the PIN.
public struct RemoveTenantMethod: TimedCommand {
    public var owner: MethodOwner
    /// Nil: the PIN.
    public var key: UUID?
    /// Nil: the tenant's server takes it.
    public var session: SignedIn?
    public var now: Timestamp

    public init(owner: MethodOwner, key: UUID?, session: SignedIn?, now: Timestamp) {
        self.owner = owner
        self.key = key
        self.session = session
        self.now = now
    }

    public typealias Rejection = TenantMethodRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnMethods {
        try await .read(owner, app: session?.app, from: streams)
    }

    public func decide(_ facts: OwnMethods) throws(Rejection) -> Decision {
        // On the realm's own page also what the apps of a tenant had that is disabled or gone.
        let isOnPage = session.map { $0.client == nil } ?? false
        guard isOnPage ? facts.account.isWelcome : facts.isWelcome else { throw .notWelcome }
        if let limit = session?.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        let event: TenantMethodEvent
        if let key {
            guard facts.methods.state.key(key) != nil else { throw .notEnrolled }
            event = .keyRemoved(key, account: owner.account, client: owner.client)
        } else {
            guard facts.methods.state.pin != nil else { throw .notEnrolled }
            event = .pinRemoved(account: owner.account, client: owner.client)
        }
        return Decision(event, in: owner.stream)
    }
}
