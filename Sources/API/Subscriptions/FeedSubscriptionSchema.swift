internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Subscriptions of the feed as the admin API takes and shows them.
enum FeedSubscriptionSchema {
    static let id = Parameter(
        "subscription_id", in: .path, Fields.id, "The subscription's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a15")

    private static let position = Schema.integer(0...281_474_976_710_655)
    private static let types = Schema.list(
        of: .text(1...100), 0...SubscriptionFilter.typeLimit, unique: true)
    private static let reach = Schema.oneOf(EventReach.allCases.map(\.rawValue))

    /// What can be set; `isNew` says what has to be.
    static func settings(isNew: Bool) -> [Member] {
        let name = (
            Schema.text(1...200, Names.showable(200)),
            "Name of the subscription, for administrators."
        )
        return [
            isNew ? .required("name", name.0, name.1) : .optional("name", name.0, name.1),
            .optional(
                "types", types,
                "Event types, or groups such as account.*; all if the list is empty."),
            .optional(
                "filter", .nullable(.text(1...FilterParser.mostCharacters)),
                "Filter for the events, as in docs/analysts/filters.md; null for all."),
            .optional(
                "to", reach, "Visibility of events that no type names exactly; services by default."
            ),
            .optional(
                "include", WebhookSchema.include,
                "personal: opened personal fields as well, which needs the permission "
                    + "events.open of the reader too, and is on record."),
        ]
    }

    static let shape = Shape<SubscriptionView>(
        "Subscription",
        .required("id", "Subscription id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a15"),
        .required(
            "name", .text(1...200), "Name of the subscription, for administrators.", \.terms.name,
            example: "Search index"),
        .required(
            "types", types, "Event types or groups of types; all if the list is empty.",
            \.terms.filter.types, example: ["account.*"]),
        .optional(
            "filter", .text(1...FilterParser.mostCharacters), "Filter for the events.",
            \.terms.filter.expression),
        .required(
            "to", reach, "Visibility of events that no type names exactly.",
            \.terms.filter.reach.rawValue, example: "services"),
        .required(
            "include", WebhookSchema.include, "Data that is sent beside open fields.",
            { $0.terms.includesPersonal ? ["personal"] : [] }, example: []),
        .required("created_at", "Creation time.", \.createdAt),
        .required("changed_at", "Time of the last change.", \.changedAt),
        .added(
            .optional(
                "cursor", .text(3...25), "Cursor up to which the reader has confirmed events.")),
        .added(
            .optional("acknowledged_at", .nullable(Fields.time), "Time of the last confirmation.")),
        .added(
            .optional(
                "held_until", .nullable(Fields.time),
                "Expiry time of the reader's lease, which is renewed while the reader is "
                    + "connected.")),
        .added(.optional("lag", position, "Number of events in the log behind the cursor.")))

    static func add(_ cursor: FeedCursor, head: Int64, to members: inout JSONObject) {
        members["cursor"] = .string(cursor.acknowledged.description)
        members["acknowledged_at"] =
            cursor.acknowledgedAt.map { .string($0.description) } ?? .null
        members["held_until"] = cursor.leasedUntil.map { .string($0.description) } ?? .null
        members["lag"] = .integer(max(0, head - cursor.acknowledged.position))
    }

    /// What a body says, over what is set already.
    fileprivate static func terms(
        _ body: JSON, over old: SubscriptionTerms
    ) -> SubscriptionTerms {
        var terms = old
        if let name = body["name"]?.string { terms.name = name }
        if let types = body["types"]?.array { terms.filter.types = types.compactMap(\.string) }
        if let reach = body["to"]?.string.flatMap(EventReach.init) { terms.filter.reach = reach }
        if let include = body["include"]?.array {
            terms.includesPersonal = include.contains("personal")
        }
        return terms
    }
}

extension Call<AdminContext> {
    /// What the body says, over what is set already.
    func feedTerms(over old: SubscriptionTerms) async throws(Problem) -> SubscriptionTerms {
        try EventConditions.requireKnown("types", in: body)
        var terms = FeedSubscriptionSchema.terms(body, over: old)
        if body["filter"] != nil { terms.filter.expression = try await keptFilter() }
        return terms
    }
}
