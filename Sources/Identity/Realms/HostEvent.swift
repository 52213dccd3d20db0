public import EventSourcing
public import JSON
public import Values

/// What happens to one host in the directory of hosts, which the system realm keeps.
public enum HostEvent: Event {
    case assigned(host: String, realm: RealmID)
    case released

    public static let catalogue: [EventShape] = [
        EventShape(
            "host.assigned", .audit, "A host serves a realm from now on.",
            [
                .text("host", "Name of the host."), .text("realm", "Realm that it serves."),
            ]),
        EventShape("host.released", .audit, "The host serves no realm any more."),
    ]

    public var name: String {
        switch self {
        case .assigned: "host.assigned"
        case .released: "host.released"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .assigned(let host, let realm):
            ["host": .string(host), "realm": .string(realm.name)]
        case .released: [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "host.assigned":
            guard let host = fields["host"]?.string,
                let realm = fields["realm"]?.string.flatMap(RealmID.init)
            else { return nil }
            self = .assigned(host: host, realm: realm)
        case "host.released": self = .released
        default: return nil
        }
    }
}
