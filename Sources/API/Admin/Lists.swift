internal import HTTP
internal import JSON

/// What all lists have in common: how much, from where, and where it goes on.
enum Lists {
    static let defaultLimit = 50

    static let limit = Parameter(
        "limit", in: .query, .integer(1...200),
        "How many items at most; \(defaultLimit) if nothing is said.", example: 50)

    static func after(_ schema: Schema) -> Parameter {
        Parameter("after", in: .query, schema, "The `next` of the page before.")
    }

    static func schema(of item: Schema, named name: String, next: Schema) -> Schema {
        .named(
            name,
            .object(
                .required("items", .list(of: item, 0...200), "This page."),
                .required(
                    "next", .nullable(next), "Where the next page begins; null on the last one.")))
    }

    static func answer(_ name: String, of item: Schema, next: Schema, example: JSON) -> Answer {
        Answer(
            status: .ok, description: "A page of the list.",
            content: .json(
                schema(of: item, named: name, next: next),
                example: ["items": [example], "next": .null]))
    }

    /// Reads one item more than asked for: whether it is there tells whether there is a next page.
    static func page<Item>(
        _ limit: Int, of items: [Item], item: (Item) -> JSON, next: (Item) -> String
    ) -> Response {
        let shown = items.prefix(limit)
        var cursor = JSON.null
        if items.count > limit, let last = shown.last { cursor = .string(next(last)) }
        return .json(.ok, ["items": .array(shown.map(item)), "next": cursor])
    }
}

extension Call {
    var limit: Int { integer("limit").flatMap { Int(exactly: $0) } ?? Lists.defaultLimit }
}
