public import EventSourcing
public import JSON
public import Values

/// An assertion by which the app shows a person to one service, once. Its stream follows from its `jti`.
public struct FederatedAssertion: StreamState {
    /// Nil until it was issued.
    public private(set) var terms: FederatedAssertionTerms?
    public private(set) var isRedeemed = false

    public init() {}

    public mutating func apply(_ event: FederatedAssertionEvent) {
        switch event {
        case .issued(let terms): self.terms = terms
        case .redeemed: isRedeemed = true
        }
    }
}

/// Which device shows whom to which service.
public struct FederatedAssertionTerms: Sendable, Equatable {
    public var account: UUID
    /// The session of the person's token.
    public var session: UUID
    public var device: UUID
    /// The service: its client's stream and name.
    public var service: UUID
    public var serviceID: String
    /// The version of the app.
    public var party: String
    /// What the device calls itself, where the assertion names it in the place of the version. Nil too where its key
    /// is destroyed.
    public var deviceName: String?
    public var audience: String
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp
    /// How often the account had removed access by then.
    public var removals = 0

    public init(
        account: UUID, session: UUID, device: UUID, service: UUID, serviceID: String,
        party: String, deviceName: String? = nil, audience: String, issuedAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.account = account
        self.session = session
        self.device = device
        self.service = service
        self.serviceID = serviceID
        self.party = party
        self.deviceName = deviceName
        self.audience = audience
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "account": .uuid(account), "session": .uuid(session),
            "federated_device": .uuid(device), "client": .uuid(service),
            "client_id": .string(serviceID), "authorized_party": .string(party),
            "audience": .string(audience), "issued_at": .integer(issuedAt.seconds),
            "expires_at": .integer(expiresAt.seconds),
        ]
        fields["device_name"] = deviceName.map { .string($0) }
        if removals > 0 { fields["removals"] = .integer(Int64(removals)) }
        return fields
    }

    fileprivate init?(recorded fields: JSONObject) {
        guard let account = fields.uuid("account"), let session = fields.uuid("session"),
            let device = fields.uuid("federated_device"), let service = fields.uuid("client"),
            let serviceID = fields["client_id"]?.string,
            let party = fields["authorized_party"]?.string,
            let audience = fields["audience"]?.string, let issuedAt = fields.instant("issued_at"),
            let expiresAt = fields.instant("expires_at")
        else { return nil }
        self.init(
            account: account, session: session, device: device, service: service,
            serviceID: serviceID, party: party, deviceName: fields["device_name"]?.string,
            audience: audience,
            issuedAt: issuedAt, expiresAt: expiresAt)
        removals = Int(clamping: fields["removals"]?.integer ?? 0)
    }
}

/// What happens to an assertion.
public enum FederatedAssertionEvent: Event {
    case issued(FederatedAssertionTerms)
    /// The service gave the app a token for it, of this session.
    case redeemed(session: UUID, account: UUID, device: UUID, client: UUID, clientID: String)

    private static let device: EventField = .uuid(
        "federated_device", "Device that shows it.")

    public static let catalogue: [EventShape] = [
        EventShape(
            "federated_assertion.issued", .audit,
            "An assertion was issued for a service.",
            [
                .account, .uuid("session", "Session of the person's token."), device, .client,
                .clientID, .text("authorized_party", "Client identifier of the app's version."),
                .text(
                    "device_name", "Name by which the assertion shows the device.",
                    .personal(.person)
                ).optional,
                .text("audience", "Token endpoint of the service."), .issuedAt, .expiresAt,
                .removals,
            ]),
        EventShape(
            "federated_assertion.redeemed", .services,
            "A service gave a token for an assertion.",
            [
                .uuid("session", "Session of the token that was given."), .account, device,
                .client, .clientID,
            ]),
    ]

    public var name: String {
        switch self {
        case .issued: "federated_assertion.issued"
        case .redeemed: "federated_assertion.redeemed"
        }
    }

    public var subject: UUID? {
        switch self {
        case .issued(let terms): terms.account
        case .redeemed(_, let account, _, _, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .issued(let terms): terms.fields
        case .redeemed(let session, let account, let device, let client, let clientID):
            [
                "session": .uuid(session), "account": .uuid(account),
                "federated_device": .uuid(device), "client": .uuid(client),
                "client_id": .string(clientID),
            ]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "federated_assertion.issued":
            guard let terms = FederatedAssertionTerms(recorded: fields) else { return nil }
            self = .issued(terms)
        case "federated_assertion.redeemed":
            guard let session = fields.uuid("session"), let account = fields.uuid("account"),
                let device = fields.uuid("federated_device"), let client = fields.uuid("client"),
                let clientID = fields["client_id"]?.string
            else { return nil }
            self = .redeemed(
                session: session, account: account, device: device, client: client,
                clientID: clientID)
        default: return nil
        }
    }
}
