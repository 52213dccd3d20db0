public import EventSourcing
public import Values

/// An assertion by which the app shows a person to one service, once. Its stream follows from its `jti`.
public struct FederatedAssertion: StreamState {
    /// Nil before the assertion was issued.
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
}

/// What happens to an assertion.
public enum FederatedAssertionEvent: FormedEvent {
    case issued(FederatedAssertionTerms)
    /// The service gave the app a token for it, of this session.
    case redeemed(session: UUID, account: UUID, device: UUID, client: UUID, clientID: String)

    package enum Form {
        package static let issued = EventForm(
            "federated_assertion.issued", .audit, .object(.other),
            "An assertion was issued for a service.", .terms, make: FederatedAssertionEvent.issued)
        package static let redeemed = EventForm(
            "federated_assertion.redeemed", .services, .object(.other),
            "A service gave a token for an assertion.",
            .uuid("session", "Session of the token that was given."), .account, .shownBy, .client,
            .clientID, make: FederatedAssertionEvent.redeemed)
    }

    public static let forms: EventForms<Self> = [Form.issued, Form.redeemed]

    public var subject: UUID? {
        switch self {
        case .issued(let terms): terms.account
        case .redeemed(_, let account, _, _, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .issued(let terms): Form.issued(terms)
        case .redeemed(let session, let account, let device, let client, let clientID):
            Form.redeemed(session, account, device, client, clientID)
        }
    }
}

extension Field<UUID> {
    fileprivate static let shownBy = uuid("federated_device", "Device that shows it.")
}

extension Field<FederatedAssertionTerms> {
    fileprivate static let terms = record(
        .account, .uuid("session", "Session of the person's token."), .shownBy, .client, .clientID,
        .text("authorized_party", "Client identifier of the app's version."),
        .optional(
            .text(
                "device_name", "Name by which the assertion shows the device.", .personal(.person))),
        .text("audience", "Token endpoint of the service."), .issuedAt, .expiresAt, .removals,
        make: {
            var terms = FederatedAssertionTerms(
                account: $0, session: $1, device: $2, service: $3, serviceID: $4, party: $5,
                deviceName: $6, audience: $7, issuedAt: $8, expiresAt: $9)
            terms.removals = $10
            return terms
        },
        take: {
            (
                $0.account, $0.session, $0.device, $0.service, $0.serviceID, $0.party,
                $0.deviceName, $0.audience, $0.issuedAt, $0.expiresAt, $0.removals
            )
        })
}
