public import JSON

/// The roles that a person was given, by audience: in order, and each once.
public struct GivenRoles: Sendable, Equatable {
    public let byAudience: [String: [String]]

    public init(_ roles: [String: [String]] = [:]) {
        byAudience = roles.mapValues { Set($0).sorted() }.filter { !$0.value.isEmpty }
    }

    /// Nil for what is no object of lists of texts.
    public init?(_ json: JSON?) {
        guard let audiences = json?.object else { return nil }
        var roles: [String: [String]] = [:]
        for name in audiences.keys {
            guard let names = audiences.texts(name) else { return nil }
            roles[name] = names
        }
        self.init(roles)
    }

    /// How many roles they are in all.
    var count: Int { byAudience.values.reduce(0) { $0 + $1.count } }

    public var json: JSON { .object(JSONObject(byAudience.map { ($0, .texts($1)) })) }
}
