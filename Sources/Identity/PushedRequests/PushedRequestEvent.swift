public import EventSourcing
public import JSON
public import Values

/// What happens to a request that was pushed.
public enum PushedRequestEvent: Event {
    /// A code was issued for it.
    case used(account: UUID, client: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "pushed_request.used", .internal,
            "A code was issued for a pushed authorization request.", [.account, .client])
    ]

    public var name: String { "pushed_request.used" }

    public var subject: UUID? {
        switch self {
        case .used(let account, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .used(let account, let client): ["account": .uuid(account), "client": .uuid(client)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "pushed_request.used", let account = fields.uuid("account"),
            let client = fields.uuid("client")
        else { return nil }
        self = .used(account: account, client: client)
    }
}
