internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// By what events are chosen as they stand in the log, as the feed and the list of events read it from
/// their parameters. Conditions of different names must all hold, one of those of the same name must.
enum EventConditions {
    /// In all conditions together.
    static let most = 50

    static let parameters = [
        Parameter(
            "type", in: .query, .list(of: type, 1...50),
            "Event type to include, or a group of types such as account.*"),
        Parameter(
            "not_type", in: .query, .list(of: type, 1...50),
            "Event type or group of types to exclude."),
        Parameter(
            "stream", in: .query, .list(of: Fields.id, 1...50),
            "Stream to include: the id of an account, a client or a session."),
    ]

    private static let type = Schema.text(
        3...100,
        .said(
            "a type of events such as client.registered, or of many such as client.*",
            .sequence([
                .some(Characters("a-z0-9_."), 2...99), .optional(.text("*")),
            ])))

    /// - Parameter others: names of conditions beside these, which count as well.
    static func filter<Context>(
        _ call: Call<Context>, beside others: [String] = []
    ) throws(Problem) -> EventFilter {
        var filter = EventFilter()
        filter.types = try types("type", call)
        filter.excluded = try types("not_type", call)
        for text in texts("stream", call) {
            if let stream = UUID(text) { filter.streams.insert(stream) }
        }
        let count = (parameters.map(\.name) + others).reduce(0) { $0 + texts($1, call).count }
        guard count <= most else {
            throw Problem(
                .invalidParameter, "At most \(most) conditions may be given.", field: "type")
        }
        return filter
    }

    static func texts<Context>(_ name: String, _ call: Call<Context>) -> [String] {
        call.parameters[name]?.array?.compactMap(\.string) ?? []
    }

    /// A type that there is not would be waited for in vain.
    private static func types<Context>(
        _ name: String, _ call: Call<Context>
    ) throws(Problem) -> EventFilter.Types {
        let texts = texts(name, call)
        for text in texts where !EventFilter.Types.isKnown(text) {
            throw Problem(.invalidParameter, unknown(text), field: name)
        }
        return EventFilter.Types(named: texts)
    }

    /// The same in a body that says what is to be sent.
    static func requireKnown(_ name: String, in body: JSON) throws(Problem) {
        for (index, value) in (body[name]?.array ?? []).enumerated() {
            guard let text = value.string, !EventFilter.Types.isKnown(text) else { continue }
            throw Problem(.invalidField, unknown(text), field: "\(name)/\(index)")
        }
    }

    private static func unknown(_ text: String) -> String {
        let known = Set(EventCatalogue.all.map(\.name))
        let families = Set(known.map { "\($0.prefix { $0 != "." }).*" })
        let all = known.union(families).sorted()
        return "There are no events '\(text)'\(NearestName.hint(for: text, among: all))"
    }
}
