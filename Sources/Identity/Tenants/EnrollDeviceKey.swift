public import EventSourcing
public import Values

/// Lets a person who signed in a short while ago sign in with a device's key within a tenant's apps from now on.
public struct EnrollDeviceKey: TimedCommand {
    public var owner: MethodOwner
    public var key: DeviceKey
    public var session: SignedIn
    /// The mail that tells the person of it.
    public var mail: UUID
    public var now: Timestamp

    public init(
        owner: MethodOwner, key: DeviceKey, session: SignedIn, mail: UUID, now: Timestamp
    ) {
        self.owner = owner
        self.key = key
        self.session = session
        self.mail = mail
        self.now = now
    }

    public typealias Rejection = TenantMethodRejection

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnMethods {
        try await .read(owner, app: session.app, from: streams)
    }

    public func decide(_ facts: OwnMethods) throws(Rejection) -> Decision {
        guard facts.isWelcome else { throw .notWelcome }
        if let limit = session.isTooOld(at: now, facts.settings) {
            throw .signInTooOld(limit: limit)
        }
        try facts.methods.state.requireRoom(for: key)
        return Decision(
            TenantMethodEvent.keyEnrolled(
                key, account: owner.account, client: owner.client,
                mail: facts.account.mail(mail)),
            in: owner.stream)
    }
}

extension TenantMethods {
    func requireRoom(for new: DeviceKey) throws(TenantMethodRejection) {
        guard key(new.publicKey, for: new.method) == nil else { throw .keyTaken }
        guard keys.count < Self.mostKeys else { throw .tooMany }
    }
}
