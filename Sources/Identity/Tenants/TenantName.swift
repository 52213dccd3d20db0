public import EventSourcing
public import JSON
public import Values

/// A tenant's own name of a person. The stream follows from the name, so that the person is found by it and it
/// stands in no event.
public struct TenantName: StreamState {
    /// The last one who was given it.
    public private(set) var account: UUID?

    public init() {}

    public mutating func apply(_ event: TenantNameEvent) {
        switch event {
        case .given(let account, _): self.account = account
        }
    }
}

public enum TenantNameEvent: Event {
    case given(account: UUID, client: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "tenant_name.given", .services, "A tenant gave the person a name of its own.",
            [.account, .client])
    ]

    public var name: String { "tenant_name.given" }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .given(let account, let client):
            ["account": .uuid(account), "client": .uuid(client)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "tenant_name.given", let account = fields.uuid("account"),
            let client = fields.uuid("client")
        else { return nil }
        self = .given(account: account, client: client)
    }
}
