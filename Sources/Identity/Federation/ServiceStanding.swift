public import EventSourcing
public import JSON
public import Values

/// Whether a service takes a person. Its stream follows from the two.
public struct ServiceStanding: StreamState {
    public private(set) var isRefused = false

    public init() {}

    public mutating func apply(_ event: ServiceStandingEvent) {
        switch event {
        case .refused: isRefused = true
        case .admitted: isRefused = false
        }
    }

    public static func stream(of account: UUID, at service: UUID) -> UUID {
        UUID(high: account.high ^ service.low, low: account.low ^ service.high ^ 0x6665_6465)
    }
}

/// What a service decided about a person.
public enum ServiceStandingEvent: Event {
    case refused(account: UUID, client: UUID, clientID: String)
    case admitted(account: UUID, client: UUID, clientID: String)

    public static let catalogue: [EventShape] = [
        EventShape(
            "service_standing.refused", .audit, "A service takes no assertions of a person.",
            [.account, .client, .clientID]),
        EventShape(
            "service_standing.admitted", .audit, "A service takes assertions of a person again.",
            [.account, .client, .clientID]),
    ]

    public var name: String {
        switch self {
        case .refused: "service_standing.refused"
        case .admitted: "service_standing.admitted"
        }
    }

    public var subject: UUID? {
        switch self {
        case .refused(let account, _, _), .admitted(let account, _, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .refused(let account, let client, let clientID),
            .admitted(let account, let client, let clientID):
            [
                "account": .uuid(account), "client": .uuid(client), "client_id": .string(clientID),
            ]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account"), let client = fields.uuid("client"),
            let clientID = fields["client_id"]?.string
        else { return nil }
        switch name {
        case "service_standing.refused":
            self = .refused(account: account, client: client, clientID: clientID)
        case "service_standing.admitted":
            self = .admitted(account: account, client: client, clientID: clientID)
        default: return nil
        }
    }
}
