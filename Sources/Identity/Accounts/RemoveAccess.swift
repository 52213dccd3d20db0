public import EventSourcing
internal import JSON
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

    var fields: JSONObject {
        switch self {
        case .client(let stream): ["client": .uuid(stream)]
        case .device(let stream): ["federated_device": .uuid(stream)]
        case .browser(let stream, isOffline: false): ["browser": .uuid(stream)]
        case .browser(let stream, isOffline: true): ["browser": .uuid(stream), "offline": true]
        }
    }

    init?(recorded fields: JSONObject) {
        if let client = fields.uuid("client") {
            self = .client(client)
        } else if let device = fields.uuid("federated_device") {
            self = .device(device)
        } else if let browser = fields.uuid("browser") {
            self = .browser(browser, isOffline: fields["offline"]?.bool ?? false)
        } else {
            return nil
        }
    }
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
        return Decision(event(facts.thing), in: account)
    }

    func event(_ account: Versioned<Account>) -> AccountEvent {
        .accessRemoved(place, number: account.state.stamp.removals + 1)
    }
}
