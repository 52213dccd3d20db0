public import EventSourcing
public import Values

/// What an account's access is removed from.
public enum AccessPlace: Sendable, Equatable {
    /// The client's stream.
    case client(UUID)
    /// The stream of a device of the federation profile.
    case device(UUID)

    var stream: UUID {
        switch self {
        case .client(let stream), .device(let stream): stream
        }
    }
}

extension Field<AccessPlace> {
    static let place = mapped(
        .optional(.client), .optional(.uuid("federated_device", "Device whose sessions ended.")),
        write: { place in
            switch place {
            case .client(let stream): (stream, nil)
            case .device(let stream): (nil, stream)
            }
        }, read: { client, device in client.map { .client($0) } ?? device.map { .device($0) } })
}

/// Ends every session that an account has at a client or on a device, however many there are. Those that are opened
/// afterwards are good.
public struct RemoveAccess: Command {
    public var account: UUID
    public var place: AccessPlace

    public init(of account: UUID, at place: AccessPlace) {
        self.account = account
        self.place = place
    }

    public typealias Rejection = NotFound<Account>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Account> {
        try await .read(account, from: streams)
    }

    public func decide(_ facts: InRealm<Account>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        return Decision(
            AccountEvent.accessRemoved(place, number: facts.thing.state.stamp.removals + 1),
            in: account)
    }
}
