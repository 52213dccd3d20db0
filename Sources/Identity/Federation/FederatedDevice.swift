public import EventSourcing
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
public enum FederatedDeviceEvent: FormedEvent {
    /// It showed the key of its app's version, and has the token of this session.
    case asserted(session: UUID, FederatedDeviceTerms)
    /// A person signed in on it for the first time, who is told by the mail.
    case signedIn(account: UUID, session: UUID, mail: UUID?, FederatedDeviceTerms)

    package enum Form {
        package static let asserted = EventForm(
            "federated_device.asserted", .audit, .object(.other),
            "A device got a token by its app's key.",
            .uuid("session", "Session of the device's token."), .terms,
            make: FederatedDeviceEvent.asserted)
        package static let signedIn = EventForm(
            "federated_device.signed_in", .services, .object(.other),
            "A person signed in on a device.", .account,
            .uuid("session", "Session of the person's token."),
            .optional(.uuid("mail", "Mail that tells the person of a new device.")), .terms,
            make: FederatedDeviceEvent.signedIn)
    }

    public static let forms: EventForms<Self> = [Form.asserted, Form.signedIn]

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

    public var written: WrittenEvent {
        switch self {
        case .asserted(let session, let terms): Form.asserted(session, terms)
        case .signedIn(let account, let session, let mail, let terms):
            Form.signedIn(account, session, mail, terms)
        }
    }
}

extension Field<FederatedDeviceTerms> {
    fileprivate static let terms = record(
        .client, .clientID, .optional(.text("device_type", "Kind of the device, as it says.")),
        .optional(.text("system", "Operating system of the device, as it says.")),
        .optional(.text("device_name", "Name of the device.", .personal(.person))),
        make: { Value(client: $0, clientID: $1, type: $2, system: $3, name: $4) },
        take: { ($0.client, $0.clientID, $0.type, $0.system, $0.name) })
}
