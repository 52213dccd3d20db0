public import EventSourcing
public import JSON
public import Values

/// All that a person has allowed a client so far.
public struct GivenConsent: Sendable, Equatable {
    public var account: UUID
    /// The client's stream and its name.
    public var client: UUID
    public var clientID: String
    /// Wherever the client led to.
    public var agreed: Agreement
    /// The part that counts while the client is unverified; the latest comes last.
    public var places: [PlacedAgreement]
    /// When it was last asked for.
    public var at: Timestamp

    /// Each was agreed to by hand: what falls out is asked for anew.
    static let mostPlaces = 50

    public init(
        account: UUID, client: UUID, clientID: String, agreed: Agreement,
        places: [PlacedAgreement] = [], at: Timestamp
    ) {
        self.account = account
        self.client = client
        self.clientID = clientID
        self.agreed = agreed
        self.places = places
        self.at = at
    }

    /// What counts; nil: nothing was agreed to.
    /// - Parameter place: where an unverified client leads people to: its person was shown the
    ///   place, and agreed to that one.
    public func agreed(leadingTo place: String?) -> Agreement? {
        guard let place else { return agreed }
        return places.first { $0.place == place }?.agreed
    }
}

/// What happens between a person and a client: one stream for the two.
public enum ConsentEvent: Event {
    case given(GivenConsent)
    case withdrawn(account: UUID, client: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "consent.given", .services, "The person consented to what the client asked for.",
            [
                .account, .client, .clientID, .scope, .resources.optional,
                EventField(
                    "places", .list(.object),
                    "What was agreed to by place, of an unverified client."
                ).optional,
                .time("given_at", "When the person consented."),
            ]),
        EventShape(
            "consent.withdrawn", .services, "The person withdrew the consent.", [.account, .client]),
    ]

    public var name: String {
        switch self {
        case .given: "consent.given"
        case .withdrawn: "consent.withdrawn"
        }
    }

    public var subject: UUID? {
        switch self {
        case .given(let consent): consent.account
        case .withdrawn(let account, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .given(let consent): consent.fields
        case .withdrawn(let account, let client):
            ["account": .uuid(account), "client": .uuid(client)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account"), let client = fields.uuid("client") else {
            return nil
        }
        switch name {
        case "consent.given":
            guard let clientID = fields["client_id"]?.string, let scope = fields.texts("scope"),
                let at = fields.instant("given_at"),
                let places = PlacedAgreement.list(fields["places"] ?? [])
            else { return nil }
            self = .given(
                GivenConsent(
                    account: account, client: client, clientID: clientID,
                    agreed: Agreement(scope: scope, resources: fields.texts("resources") ?? []),
                    places: places, at: at))
        case "consent.withdrawn": self = .withdrawn(account: account, client: client)
        default: return nil
        }
    }
}

extension GivenConsent {
    fileprivate var fields: JSONObject {
        var fields: JSONObject = [
            "account": .uuid(account), "client": .uuid(client), "client_id": .string(clientID),
            "scope": .texts(agreed.scope), "given_at": .integer(at.seconds),
        ]
        if !agreed.resources.isEmpty { fields["resources"] = .texts(agreed.resources) }
        if !places.isEmpty { fields["places"] = .array(places.map(\.json)) }
        return fields
    }
}
