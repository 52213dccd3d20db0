public import EventSourcing
public import Values

/// What an account's access is removed from.
public enum AccessPlace: Sendable, Hashable {
    /// The client's stream.
    case client(UUID)
    /// The stream of a device of the federation profile.
    case device(UUID)
    /// The first session of a browser, of which the sessions of clients came: those with offline access, or those
    /// without.
    case browser(UUID, isOffline: Bool)

    var stream: UUID {
        switch self {
        case .client(let stream), .device(let stream), .browser(let stream, _): stream
        }
    }

    /// As read models and states at a moment have it: those of a browser are two.
    public var name: String {
        if case .browser(_, isOffline: true) = self { "offline \(stream)" } else { "\(stream)" }
    }
}

extension Field<AccessPlace> {
    static let place = mapped(
        .optional(.client), .optional(.uuid("federated_device", "Device whose sessions ended.")),
        .optional(
            .uuid("browser", "First session of their browser.")),
        .unless(
            false, .flag("offline", "Whether it was those with offline access.")),
        write: { place in
            switch place {
            case .client(let stream): (stream, nil, nil, false)
            case .device(let stream): (nil, stream, nil, false)
            case .browser(let stream, let isOffline): (nil, nil, stream, isOffline)
            }
        },
        read: { client, device, browser, isOffline in
            client.map { .client($0) } ?? device.map { .device($0) }
                ?? browser.map { .browser($0, isOffline: isOffline) }
        })
}

/// Ends every session that an account has at a client or on a device, however many there are. Sessions that are opened
/// afterwards are valid.
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
        return Decision(event(facts.thing), in: account)
    }

    func event(_ account: Versioned<Account>) -> AccountEvent {
        .accessRemoved(place, number: account.state.stamp.removals + 1)
    }
}
