public import EventSourcing
public import JSON
public import Values

/// All that a person has allowed a client so far.
public struct GivenConsent: Sendable, Equatable {
    public var account: UUID
    /// The client's stream and its name.
    public var client: UUID
    public var clientID: String
    public var scope: [String]
    /// When it was last asked for.
    public var at: Timestamp

    public init(account: UUID, client: UUID, clientID: String, scope: [String], at: Timestamp) {
        self.account = account
        self.client = client
        self.clientID = clientID
        self.scope = scope
        self.at = at
    }
}

/// What happens between a person and a client: one stream for the two.
public enum ConsentEvent: Event {
    case given(GivenConsent)
    case withdrawn(account: UUID, client: UUID)

    public static let catalogue = [
        EventShape(
            "consent.given", open: ["account", "client", "client_id", "scope", "given_at"]),
        EventShape("consent.withdrawn", open: ["account", "client"]),
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
        case .given(let consent):
            [
                "account": .uuid(consent.account), "client": .uuid(consent.client),
                "client_id": .string(consent.clientID), "scope": .texts(consent.scope),
                "given_at": .integer(consent.at.seconds),
            ]
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
                let at = fields.instant("given_at")
            else { return nil }
            self = .given(
                GivenConsent(
                    account: account, client: client, clientID: clientID, scope: scope, at: at))
        case "consent.withdrawn": self = .withdrawn(account: account, client: client)
        default: return nil
        }
    }
}
