internal import HTTP
internal import JSON
internal import Values

/// The parameters and schemas that all lists share: limit, cursor, range and page.
enum Lists {
    static let defaultLimit = 50

    static let limit = Parameter(
        "limit", in: .query, .integer(1...200),
        "Maximum number of items; \(defaultLimit) by default.", example: 50)

    static func after(_ schema: Schema) -> Parameter {
        Parameter("after", in: .query, schema, "Cursor: the `next` of the previous page.")
    }

    static let since = Parameter(
        "since", in: .query, time, "Start of the range: a time or day (UTC), inclusive.")
    static let until = Parameter(
        "until", in: .query, time, "End of the range: a time or day (UTC), exclusive.")

    private static let day: [Pattern] = [
        .some(Characters("0-9"), 4...4), .text("-"), .some(Characters("0-9"), 2...2),
        .text("-"), .some(Characters("0-9"), 2...2),
    ]

    /// As RFC 3339 has it; a day alone begins at midnight in UTC.
    private static let time = Schema.text(
        10...35,
        .said(
            "a time such as 2026-11-22T12:00:00Z, or a day such as 2026-11-22",
            .sequence(
                day + [
                    .optional(
                        .sequence([.one(Characters("Tt")), .some(Characters("-+:.Zz0-9"), 9...24)]))
                ])))

    /// Said once for all lists: whether there is a next page. In lists of the log `next` is there without one, too.
    static let more = Member.required(
        "more", .boolean, "Whether there is a next page now, which begins behind `next`.")

    static func answer(_ name: String, of item: Schema, next: Schema, example: JSON) -> Answer {
        let page: JSONObject = ["items": [example], "next": .null, "more": false]
        return .ok(
            "A page of the list.",
            .named(
                name,
                .object(
                    [
                        .required("items", .list(of: item, 0...200), "Items of this page."),
                        .required(
                            "next", .nullable(next),
                            "Cursor of the next page; null on the last page."), more,
                    ] + ListStanding.schema)),
            example: .object(page.merging(ListStanding.example.members) { $1 }))
    }

    /// A page of objects of a shape, whose name the list's begins with.
    static func answer<Item>(of shape: Shape<Item>, next: Schema) -> Answer {
        answer(
            "\(shape.name)List", of: shape.schema, next: next, example: shape.example)
    }

    /// A list that has no pages: of what there are few.
    static func whole<Item>(
        of shape: Shape<Item>, _ count: ClosedRange<Int>, _ description: String
    ) -> Answer {
        let all: JSONObject = ["items": [shape.example]]
        return .ok(
            description,
            .named(
                "\(shape.name)List",
                .object(
                    [.required("items", .list(of: shape.schema, count), "All items.")]
                        + ListStanding.schema)),
            example: .object(all.merging(ListStanding.example.members) { $1 }))
    }

    static func whole(_ items: [JSON], at standing: ListStanding) -> Response {
        let all: JSONObject = ["items": .array(items)]
        return .json(.ok, .object(all.merging(standing.members) { $1 }))
    }

    /// Reads one item more than asked for: whether it is there tells whether there is a next page.
    static func page<Item>(
        _ limit: Int, of items: some Collection<Item>, at standing: ListStanding,
        item: (Item) -> JSON, next: (Item) -> String
    ) -> Response {
        let shown = Array(items.prefix(limit))
        var cursor = JSON.null
        if items.count > limit, let last = shown.last { cursor = .string(next(last)) }
        let page: JSONObject = [
            "items": .array(shown.map(item)), "next": cursor, "more": .bool(cursor != .null),
        ]
        return .json(.ok, .object(page.merging(standing.members) { $1 }))
    }
}

/// How far in the log a list is, and where the log ends. They are the same for what moves with the log.
struct ListStanding: Sendable {
    let position: Int64
    let head: Int64

    static let example = ListStanding(position: 48211, head: 48213)

    static let schema: [Member] = [
        .required(
            "position", .integer(0...281_474_976_710_655),
            "Position of the log up to which the list is complete."),
        headMember,
    ]

    static let headMember = Member.required(
        "head", .integer(0...281_474_976_710_655), "Last position of the realm's log.")

    var members: JSONObject { ["position": .integer(position), "head": .integer(head)] }
}

extension Call {
    var limit: Int { integer("limit").flatMap { Int(exactly: $0) } ?? Lists.defaultLimit }

    func moment(_ name: String) throws(Problem) -> Timestamp? {
        try time(asWritten: text(name), name)
    }

    /// `since` and `until`.
    func period() throws(Problem) -> (since: Timestamp?, until: Timestamp?) {
        let (since, until) = (try moment("since"), try moment("until"))
        if let since, let until, until < since {
            throw Problem(.invalidParameter, "until is before since.", field: "until")
        }
        return (since, until)
    }

    /// A time, or a day, which is its beginning in UTC.
    func time(asWritten text: String?, _ name: String) throws(Problem) -> Timestamp? {
        guard let text else { return nil }
        let isDay = text.utf8.count == 10
        guard let moment = Timestamp(rfc3339: isDay ? text + "T00:00:00Z" : text) else {
            throw Problem(.invalidParameter, "There is no such \(name).", field: name)
        }
        return moment
    }
}
