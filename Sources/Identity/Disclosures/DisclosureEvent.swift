public import EventSourcing
public import JSON
public import Values

/// What of people was unsealed for somebody.
public enum DisclosureKind: String, Sendable {
    case person
    case loginHistory = "login_history"
    /// Whatever stood sealed in events; whose it is are the subjects that they name.
    case events
}

/// That somebody was shown what is sealed. Who it was says the event's actor.
public enum DisclosureEvent: Event {
    case made(DisclosureKind, accounts: [UUID])

    public static let catalogue = [
        EventShape("personal_data.opened", open: ["kind", "accounts"])
    ]

    public var name: String { "personal_data.opened" }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .made(let kind, let accounts):
            ["kind": .string(kind.rawValue), "accounts": .texts(accounts.map(\.description))]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "personal_data.opened", let kind: DisclosureKind = fields.choice("kind"),
            let accounts = fields.texts("accounts")
        else { return nil }
        self = .made(kind, accounts: accounts.compactMap { UUID($0) })
    }
}

/// Each disclosure is a stream of its own: none waits for another.
public struct Disclosure: StreamState {
    public init() {}

    public mutating func apply(_ event: DisclosureEvent) {}
}
