public import EventSourcing
public import JSON
public import Values

/// The kind of sealed data that was disclosed.
public enum DisclosureKind: String, CaseIterable, Sendable {
    case person
    case loginHistory = "login_history"
    /// All that was sealed in events; the subjects that they name are the people.
    case events
}

/// That sealed data was disclosed. The event's actor is the one it was shown to.
public enum DisclosureEvent: Event {
    case made(DisclosureKind, accounts: [UUID])

    public static let catalogue: [EventShape] = [
        EventShape(
            "personal_data.opened", .audit, "Sealed personal data was disclosed to the actor.",
            [
                .choice("kind", DisclosureKind.self, "Kind of data that was disclosed."),
                .uuids("accounts", "Accounts or other subjects whose data was disclosed."),
            ])
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
