public import EventSourcing
public import Values

/// Denies a device's request to act for a person.
public struct DenyDevice: TimedCommand {
    public var device: UUID
    public var account: UUID
    public var now: Timestamp

    public init(device: UUID, account: UUID, now: Timestamp) {
        self.device = device
        self.account = account
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
        return Decision(DeviceEvent.denied(account: account), in: device)
    }
}
