public import EventSourcing
public import JSON
public import Values

/// One installation of the app on one device: its stream follows from what the device calls itself, under the
/// realm's key.
public struct FederatedDevice: StreamState {
    /// The session of the token that it has now; nil until it showed itself.
    public private(set) var session: UUID?
    public private(set) var terms: FederatedDeviceTerms?

    public init() {}

    public mutating func apply(_ event: FederatedDeviceEvent) {
        switch event {
        case .asserted(let session, let terms):
            self.session = session
            self.terms = terms
        case .signedIn: break
        }
    }
}

/// What a device says of itself.
public struct FederatedDeviceTerms: Sendable, Equatable {
    /// The version of the app: its client's stream and name.
    public var client: UUID
    public var clientID: String
    public var type: String?
    public var system: String?
    /// People name their devices after themselves. Nil too where its key is destroyed.
    public var name: String?

    public init(
        client: UUID, clientID: String, type: String? = nil, system: String? = nil,
        name: String? = nil
    ) {
        self.client = client
        self.clientID = clientID
        self.type = type
        self.system = system
        self.name = name
    }
}

/// What happens to a device of the federation profile.
public enum FederatedDeviceEvent: Event {
    /// It showed the key of its app's version, and has the token of this session.
    case asserted(session: UUID, FederatedDeviceTerms)
    /// A person signed in on it for the first time, who is told by the mail.
    case signedIn(account: UUID, session: UUID, mail: UUID?, FederatedDeviceTerms)

    private static let terms: [EventField] = [
        .client, .clientID,
        .text("device_type", "Kind of the device, as it says.").optional,
        .text("system", "Operating system of the device, as it says.").optional,
        .text("device_name", "Name of the device.", .personal(.person)).optional,
    ]

    public static let catalogue: [EventShape] = [
        EventShape(
            "federated_device.asserted", .audit,
            "A device got a token by its app's key.",
            [.uuid("session", "Session of the device's token.")], terms),
        EventShape(
            "federated_device.signed_in", .services, "A person signed in on a device.",
            [
                .account, .uuid("session", "Session of the person's token."),
                .uuid("mail", "Mail that tells the person of a new device.").optional,
            ], terms),
    ]

    public var name: String {
        switch self {
        case .asserted: "federated_device.asserted"
        case .signedIn: "federated_device.signed_in"
        }
    }

    public var subject: UUID? {
        switch self {
        case .asserted: nil
        case .signedIn(let account, _, _, _): account
        }
    }

    /// Before a person signs in, the name of their device is sealed under a key of the device's own.
    public func subject(in stream: UUID) -> UUID? {
        switch self {
        case .asserted(_, let terms): terms.name == nil ? nil : stream
        case .signedIn(let account, _, _, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .asserted(let session, let terms):
            var fields = terms.fields
            fields["session"] = .uuid(session)
            return fields
        case .signedIn(let account, let session, let mail, let terms):
            var fields: JSONObject = ["account": .uuid(account), "session": .uuid(session)]
            fields["mail"] = mail.map { .uuid($0) }
            return fields.merging(terms.fields) { own, _ in own }
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let session = fields.uuid("session"),
            let terms = FederatedDeviceTerms(recorded: fields)
        else { return nil }
        switch name {
        case "federated_device.asserted": self = .asserted(session: session, terms)
        case "federated_device.signed_in":
            guard let account = fields.uuid("account") else { return nil }
            self = .signedIn(
                account: account, session: session, mail: fields.uuid("mail"), terms)
        default: return nil
        }
    }
}

extension FederatedDeviceTerms {
    fileprivate var fields: JSONObject {
        var fields: JSONObject = ["client": .uuid(client), "client_id": .string(clientID)]
        fields["device_type"] = type.map { .string($0) }
        fields["system"] = system.map { .string($0) }
        fields["device_name"] = name.map { .string($0) }
        return fields
    }

    fileprivate init?(recorded fields: JSONObject) {
        guard let client = fields.uuid("client"), let clientID = fields["client_id"]?.string else {
            return nil
        }
        self.init(
            client: client, clientID: clientID, type: fields["device_type"]?.string,
            system: fields["system"]?.string, name: fields["device_name"]?.string)
    }
}
