internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Webhooks as the admin API takes and shows them.
enum WebhookSchema {
    static let id = Parameter(
        "webhook_id", in: .path, Fields.id, "The webhook's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a14")

    static let position = Schema.integer(0...281_474_976_710_655)
    private static let types = Schema.list(
        of: .text(1...100), 0...SubscriptionFilter.typeLimit, unique: true)
    private static let reach = Schema.oneOf(EventReach.allCases.map(\.rawValue))
    private static let streams = Schema.list(
        of: Fields.id, 0...SubscriptionFilter.streamLimit, unique: true)
    private static let format = Schema.oneOf(SubscriptionTerms.Format.allCases.map(\.rawValue))
    static let include = Schema.list(of: .oneOf(["personal"]), 0...1, unique: true)
    private static let order = Schema.oneOf(SubscriptionTerms.Order.allCases.map(\.rawValue))
    private static let signature = Schema.oneOf(
        SubscriptionTerms.Signature.allCases.map(\.rawValue))

    /// What can be set; `isNew` says what has to be.
    static func settings(isNew: Bool) -> [Member] {
        let url = (
            Schema.text(1...2000, Names.webAddress), "URL of the receiver (https)."
        )
        let name = (
            Schema.text(1...200, Names.showable(200)), "Name of the webhook, for administrators."
        )
        return [
            isNew ? .required("url", url.0, url.1) : .optional("url", url.0, url.1),
            isNew ? .required("name", name.0, name.1) : .optional("name", name.0, name.1),
            .optional(
                "description", .nullable(.text(1...200, Names.showable(200))),
                "Description of the webhook; null for none."),
            .optional(
                "types", types,
                "Event types, or groups such as account.*; all if the list is empty."),
            .optional("not_types", types, "Event types or groups of types that are not sent."),
            .optional(
                "streams", streams,
                "Streams whose events are sent: ids of accounts, clients, sessions; all "
                    + "if the list is empty."),
            .optional(
                "filter", .nullable(.text(1...FilterParser.mostCharacters)),
                "Filter for the events, as in docs/analysts/filters.md; null for all."),
            .optional(
                "to", reach, "Visibility of events that no type names exactly; services by default."
            ),
            .optional("format", format, "Format of the messages; standard by default."),
            .optional(
                "include", include,
                """
                personal: opened personal fields as well, which needs the permission events.open and is \
                on record.
                """),
            .optional("order", order, "Ordering of the messages; stream by default."),
            .optional(
                "signature", signature,
                "Signature scheme; v1 by default. v1a is verified with the keys at "
                    + "/.well-known/urd-webhook-keys.json."),
            .optional("headers", .map(of: .text(1...1024)), "Additional headers of the requests."),
        ]
    }

    static let shape = Shape<SubscriptionView>(
        "Webhook",
        .required("id", "Webhook id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a14"),
        .required(
            "name", .text(1...200), "Name of the webhook, for administrators.", \.terms.name,
            example: "CRM"),
        .optional(
            "description", .text(1...200), "Description of the webhook.", \.terms.description),
        .required(
            "url", .text(1...2000), "URL of the receiver.", \.terms.url,
            example: "https://crm.example.org/urd"),
        .required(
            "types", types, "Event types or groups of types; all if the list is empty.",
            \.terms.filter.types, example: ["account.*"]),
        .required(
            "not_types", types, "Event types or groups of types that are not sent.",
            \.terms.filter.excluded, example: []),
        .required(
            "streams", streams, "Streams whose events are sent; all if the list is empty.",
            \.terms.filter.streams, example: []),
        .optional(
            "filter", .text(1...FilterParser.mostCharacters), "Filter for the events.",
            \.terms.filter.expression),
        .required(
            "to", reach, "Visibility of events that no type names exactly.",
            \.terms.filter.reach.rawValue, example: "services"),
        .required(
            "format", format, "Format of the messages.", \.terms.format.rawValue,
            example: "standard"),
        .required(
            "include", include, "Data that is sent beside open fields.",
            { $0.terms.includesPersonal ? ["personal"] : [] }, example: []),
        .required(
            "order", order, "Ordering of the messages.", \.terms.order.rawValue, example: "stream"),
        .required(
            "signature", signature, "Signature scheme of the messages.", \.terms.signature.rawValue,
            example: "v1"),
        .required(
            "header_names", .list(of: .text(1...200), 0...100),
            "Names of the additional headers of the requests.", \.headerNames, example: []),
        .required(
            "state", .oneOf(["active", "paused", "disabled"]), "State of the webhook.",
            \.standing.word, example: "active"),
        .nullable(
            "reason", .oneOf(Subscription.DisableReason.allCases.map(\.rawValue)),
            "Reason for which the webhook is disabled.", \.standing.reason?.rawValue),
        .required("created_at", "Creation time.", \.createdAt),
        .required("changed_at", "Time of the last change.", \.changedAt),
        .added(
            .optional(
                "kept_to", position,
                "Position to which the log was set back: deliveries of later positions "
                    + "have to be undone. To resume the webhook, name its start.")),
        .added(
            .optional(
                "cursor", .text(3...25), "Cursor up to which every event is delivered or waits.")),
        .added(
            .optional("waiting", position, "Number of deliveries that wait for another attempt.")),
        .added(.optional("given_up", position, "Number of deliveries that were given up.")),
        .added(
            .optional(
                "blocked_since", .nullable(Fields.time),
                "Time since which no delivery has succeeded.")),
        .added(
            .optional(
                "halted", .nullable(.text(1...500)), "Fault for which the log cannot be read on.")))

    /// With its secret, in an example all zeros, which signs nothing.
    static let freshShape = shape.adding(
        "FreshWebhook",
        .added(
            .required(
                "secret", .text(50...50), "Secret that signs the messages. It is not shown again."),
            example: .string(
                WebhookSignature.text(
                    ofSecret: Array(repeating: 0, count: SubscriptionSecret.length)))))

    static func json(_ id: UUID, _ folded: StreamSnapshot<Subscription>) throws(Problem)
        -> JSONObject
    {
        let state = folded.state
        let view = SubscriptionView(
            id: id, terms: state.terms, headerNames: state.terms.headers.keys.sorted(),
            standing: state.standing, createdAt: folded.createdAt, changedAt: folded.changedAt,
            version: 0)
        var members = shape.object(view)
        if state.standing == .disabled(.rewound), let kept = state.keptTo {
            members["kept_to"] = .integer(kept)
        }
        return members
    }

    static func add(_ standing: DeliveryStanding, to members: inout JSONObject) {
        members["cursor"] = .string(standing.cursor.description)
        members["waiting"] = .integer(Int64(standing.waiting))
        members["given_up"] = .integer(Int64(standing.givenUp))
        members["blocked_since"] =
            standing.blockedSince.map { .string($0.description) } ?? .null
        members["halted"] = standing.halted.map { .string($0) } ?? .null
    }

    /// What a body says, over what is set already.
    fileprivate static func terms(
        _ body: JSON, over old: SubscriptionTerms
    ) -> SubscriptionTerms {
        var terms = old
        if let name = body["name"]?.string { terms.name = name }
        if let description = body["description"] { terms.description = description.string }
        if let url = body["url"]?.string { terms.url = url }
        if let types = body["types"]?.array { terms.filter.types = types.compactMap(\.string) }
        if let types = body["not_types"]?.array {
            terms.filter.excluded = types.compactMap(\.string)
        }
        if let streams = body["streams"]?.array {
            terms.filter.streams = streams.compactMap { $0.string.flatMap { UUID($0) } }
        }
        if let format = body["format"]?.string.flatMap(SubscriptionTerms.Format.init) {
            terms.format = format
        }
        if let include = body["include"]?.array {
            terms.includesPersonal = include.contains("personal")
        }
        if let reach = body["to"]?.string.flatMap(EventReach.init) { terms.filter.reach = reach }
        if let order = body["order"]?.string.flatMap(SubscriptionTerms.Order.init) {
            terms.order = order
        }
        if let kind = body["signature"]?.string.flatMap(SubscriptionTerms.Signature.init) {
            terms.signature = kind
        }
        if let headers = body["headers"]?.object {
            terms.headers = [:]
            for (name, value) in headers { terms.headers[name] = value.string }
        }
        return terms
    }
}

extension Subscription.Standing {
    fileprivate var word: String {
        switch self {
        case .active: "active"
        case .paused, .deleted: "paused"
        case .disabled: "disabled"
        }
    }

    fileprivate var reason: Subscription.DisableReason? {
        if case .disabled(let reason) = self { reason } else { nil }
    }
}

extension TokenMint {
    /// Follows from the command, so that a repeat of it tells the same.
    func webhookSecret(of command: UUID) -> SubscriptionSecret? {
        SubscriptionSecret(
            shared: Array(derive(.webhookSecret, command.bytes).prefix(32)))
    }
}

extension Call<AdminContext> {
    /// What the body says, over what is set already.
    func webhookTerms(over old: SubscriptionTerms) async throws(Problem) -> SubscriptionTerms {
        try EventConditions.requireKnown("types", in: body)
        try EventConditions.requireKnown("not_types", in: body)
        var terms = WebhookSchema.terms(body, over: old)
        if terms.url != old.url { try requireAddress(terms.url) }
        if body["filter"] != nil { terms.filter.expression = try await keptFilter() }
        return terms
    }

    /// Where a name leads is looked at whenever it is called; what is an address already can be refused now.
    private func requireAddress(_ url: String) throws(Problem) {
        guard let host = URLParts.parse(url)?.host, let address = IPAddress(host),
            !context.deliveries.mayCall(address)
        else { return }
        throw Problem(
            .invalidField,
            "\(address) is no public address; the operator can allow its network by URD_WEBHOOK_ALLOW.",
            field: "url")
    }
}
