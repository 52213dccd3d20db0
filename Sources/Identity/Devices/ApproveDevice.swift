public import EventSourcing
public import Values

/// Allows a device to act for the signed-in person.
public struct ApproveDevice: TimedCommand {
    public var device: UUID
    public var account: UUID
    public var place: ApprovalPlace?
    /// Authentication factors and time of the person's sign-in.
    public var factors: [AuthenticationFactor]
    public var signedInAt: Timestamp
    public var now: Timestamp

    public init(
        device: UUID, account: UUID, factors: [AuthenticationFactor], signedInAt: Timestamp,
        now: Timestamp
    ) {
        self.device = device
        self.account = account
        self.factors = factors
        self.signedInAt = signedInAt
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// No device waits under this code, or not any more.
        case notFound
        case accountBlocked
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let device: Versioned<Device>
        let account: Versioned<Account>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            device: try await streams.read(Device.self, device),
            account: try await streams.read(Account.self, account))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.device.state.openTerms(at: now) != nil else { throw .notFound }
        guard facts.account.isWelcome else { throw .accountBlocked }
        var approval = DeviceApproval(
            account: account, stamp: facts.account.state.stamp,
            factors: factors, signedInAt: signedInAt, at: now)
        approval.place = place
        return Decision(DeviceEvent.approved(approval), in: device)
    }
}
