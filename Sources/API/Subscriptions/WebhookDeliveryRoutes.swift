internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What became of a webhook's deliveries, and sending them again.
enum WebhookDeliveryRoutes {
    static let table: [Route<AdminContext>] = [
        list, attempts, resend, replay, redeliver, test,
    ]

    private static let eventType = Schema.text(
        1...100,
        .said(
            "the type of an event such as account.erased",
            .either(EventCatalogue.newest.map { .text($0.name) })))

    private static let testBody: Body = {
        var body = Body(
            schema: .named(
                "WebhookTest",
                .object(
                    .optional("type", eventType, "Event type of the test; urd.test by default."))),
            example: ["type": .string(AccountEvent.Form.erased.name)])
        body.mayBeMissing = true
        return body
    }()

    /// What may come of an attempt.
    private static let outcomes = [
        "delivered", "refused", "redirect", "gone", "slow_down", "timeout", "unreachable",
        "unknown_host", "not_public", "untrusted", "broken", "answer_too_large", "invalid_request",
        "no_secret", "not_tried",
    ]

    private static let list = Route.list(
        "/api/admin/realms/{realm}/webhooks/{webhook_id}/deliveries", id: "listWebhookDeliveries",
        commandLine: .urd(
            "webhook deliveries",
            examples: "urd webhook deliveries WEBHOOK --realm demo --state given_up"),
        tag: "Webhooks", summary: "List the deliveries that wait, or that were given up.",
        detail: "What was delivered is in the list of attempts.", permission: .subscriptionsManage,
        parameters: [
            WebhookSchema.id,
            Parameter(
                "state", in: .query, .oneOf(["waiting", "given_up"]),
                "State of the deliveries; waiting by default."),
            Parameter(
                "type", in: .query, eventType,
                "Event type of the deliveries.", example: .string(AccountEvent.Form.erased.name)),
            Lists.since,
        ], isOfSystem: true, of: delivery, by: .position(\.position), refusals: [.noSuchWebhook]
    ) { call, page throws(Problem) in
        let webhook = try await call.knownWebhook()
        let since = try call.moment("since")
        return try await reading { () throws(LogFailure) in
            try await call.context.deliveries.deliveries(
                of: webhook.id, in: page.realm, givenUp: call.text("state") == "given_up",
                type: call.text("type"), since: since, after: page.after ?? 0, limit: page.limit)
        }
    }

    private static let attempts = Route.list(
        "/api/admin/realms/{realm}/webhooks/{webhook_id}/attempts", id: "listWebhookAttempts",
        commandLine: .urd(
            "webhook attempts", examples: "urd webhook attempts WEBHOOK --realm demo"),
        tag: "Webhooks", summary: "List the attempts of the last 30 days, the newest first.",
        permission: .subscriptionsManage,
        parameters: [
            WebhookSchema.id,
            Parameter(
                "position", in: .query, Fields.position, "Position of the event of the attempts."
            ),
            Parameter(
                "outcome", in: .query, .oneOf(outcomes),
                "Outcome of the attempts.", example: "delivered"), Lists.since,
        ], isOfSystem: true, of: attempt, by: .position(\.number), refusals: [.noSuchWebhook]
    ) { call, page throws(Problem) in
        let webhook = try await call.knownWebhook()
        let since = try call.moment("since")
        return try await reading { () throws(LogFailure) in
            try await call.context.deliveries.attempts(
                of: webhook.id, in: page.realm, position: call.integer("position"),
                outcome: call.text("outcome"), since: since, before: page.after ?? .max,
                limit: page.limit)
        }
    }

    private static let resend = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/deliveries/{position}/resend",
        id: "resendWebhookDelivery",
        commandLine: .urd("webhook resend", examples: "urd webhook resend WEBHOOK 1 --realm demo"),
        tag: "Webhooks",
        summary: "Send an event to a webhook again.", right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .position, .idempotencyKey],
        answer: queued,
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook, .noSuchEvent]
    ) { call throws(Problem) in
        let position = try call.requiredInteger("position")
        try await call.requireWanted(position)
        return try await call.replay(position...position, types: [])
    }

    private static let replay = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/replay", id: "replayWebhook",
        commandLine: .urd(
            "webhook replay", examples: "urd webhook replay WEBHOOK --realm demo --from 1"),
        tag: "Webhooks",
        summary: "Send the events of a range to a webhook again.",
        detail: """
            With the same ids, and the header urd-replay. Of a range with more than 100,000 events of these types only \
            the first are queued: next is the position to ask for the others from.
            """,
        right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        body: Body(
            schema: .named(
                "WebhookReplay",
                .object(
                    .required("from", Fields.position, "First position of the range."),
                    .optional(
                        "to", Fields.position, "Last position of the range; the newest by default."),
                    .optional(
                        "types",
                        .list(
                            of: .text(1...100), 0...SubscriptionFilter.typeLimit, unique: true),
                        "Event types or groups of types; all types of the webhook if the list is "
                            + "empty."))
            ), example: ["from": 1]),
        answer: queued,
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let realm = try call.realm
        let from = call.body["from"]?.integer ?? 1
        let head = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.head(of: realm)
        }
        let to = min(call.body["to"]?.integer ?? head.position, head.position)
        guard from <= to else {
            throw Problem(
                .invalidField, "from must not be behind the last position.", field: "from")
        }
        return try await call.replay(
            from...to, types: (call.body["types"]?.array ?? []).compactMap(\.string))
    }

    private static let redeliver = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/redeliver",
        id: "redeliverWebhook",
        commandLine: .urd(
            "webhook redeliver", examples: "urd webhook redeliver WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Send all that was given up to a webhook again.", right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        answer: queued,
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let realm = try call.realm
        let context = call.context
        return try await call.sendAgain(.givenUp) { webhook throws(Problem) in
            let now = context.time.now(in: realm)
            let count = try await reading { () throws(LogFailure) in
                try await context.deliveries.revive(webhook.id, in: realm, at: now)
            }
            return (count, nil)
        }
    }

    private static let test = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/test", id: "testWebhook",
        commandLine: .urd("webhook test", examples: "urd webhook test WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Send a test message to a webhook and show what it answers.",
        detail: """
            The message is in no log. It has the type urd.test and data.test; or with `type`, what an event of that \
            type looks like, with examples in its open fields, in the format of the webhook.
            """, right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        body: testBody,
        answer: .written(.ok, "Outcome of the test.", attempt),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let webhook = try await call.knownWebhook()
        let earlier = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.earlier(write)
        }
        if let earlier {
            let outcome = try await call.tested(earlier.done, webhook.id)
            return Response.json(.ok, attempt.json(outcome)).at(earlier.done)
        }
        let place = try await call.state(Realm.self, of: Realm.stream, in: write.realm)
        // A disabled realm takes no event, so the test could not be put on record: it is not sent.
        if place.state.isDisabled { throw Problem(.realmDisabled) }
        let folded = try await call.state(Subscription.self, of: webhook.id, in: write.realm)
        let now = call.context.time.now(in: write.realm)
        let outcome = await call.context.deliveries.test(
            folded.state, of: webhook.id, in: write.realm, id: "test_\(write.newID("test"))",
            example: try await call.testExample(at: now), at: now)
        let done = try await call.run(
            SubscriptionChange.recordTest(
                webhook.id,
                test: SubscriptionTest(
                    status: Int64(outcome.status), outcome: outcome.outcome,
                    milliseconds: Int64(outcome.milliseconds), at: outcome.at)), as: write)
        return Response.json(.ok, attempt.json(outcome)).at(done)
    }

    // MARK: - Schemas

    private static let queued = Answer.written(
        .ok, "Number of events that are sent soon, or once the webhook is resumed.",
        .named(
            "QueuedDeliveries",
            .object(
                .required(
                    "queued", WebhookSchema.position, "Number of events that are sent again."),
                .optional(
                    "next", Fields.position,
                    "Position to continue at, for a range that was too long: no event from "
                        + "there on is queued."
                ))),
        example: ["queued": 12])

    private static let delivery = Shape<Delivery>(
        "WebhookDelivery",
        .required(
            "position", Fields.position, "Position of the event in the realm's log.", \.position,
            example: 48_211),
        .required(
            "type", .text(1...100), "Event type.", \.type,
            example: .string(AccountEvent.Form.registered.name)),
        .required(
            "state", .oneOf(["waiting", "given_up"]), "State of the delivery.",
            { $0.isGivenUp ? "given_up" : "waiting" }, example: "waiting"),
        .required(
            "attempts", WebhookSchema.position, "Number of delivery attempts.", \.attempts,
            example: 2),
        .required("next_at", "Earliest time of the next attempt.", \.nextAt),
        .required(
            "replay", "Whether an administrator requested the delivery.", \.isReplay,
            example: false))

    private static let attempt = Shape<DeliveryAttempt>(
        "WebhookAttempt",
        .required(
            "position", WebhookSchema.position,
            "Position of the event in the realm's log; 0 for a test.", \.position, example: 48_211),
        .required(
            "type", .text(1...100), "Event type.", \.type,
            example: .string(AccountEvent.Form.registered.name)),
        .required("at", "Time of the response.", \.at),
        .required(
            "milliseconds", WebhookSchema.position, "Duration of the attempt in milliseconds.",
            \.milliseconds, example: 12),
        .required(
            "status", .integer(0...999), "HTTP status of the response; 0 if there was none.",
            \.status, example: 204),
        .required(
            "outcome", .text(1...40), "Outcome of the attempt: delivered, or the fault.", \.outcome,
            example: "delivered"),
        .required(
            "replay", "Whether an administrator requested the delivery.", \.isReplay, example: false
        ),
        .required(
            "answer", .text(0...4096), "First bytes of the response body.", \.answer,
            example: ""))
}

extension Call<AdminContext> {
    /// What came of a test that was sent before, as it was answered then.
    fileprivate func tested(
        _ done: WriteReceipt, _ webhook: UUID
    ) async throws(Problem) -> DeliveryAttempt {
        let realm = try realm
        let event = try await reading { () throws(LogFailure) in
            try await context.commands.events.events(
                from: done.positions.first, limit: 1, in: realm
            ).first
        }
        guard let event, case .tested(let test)? = SubscriptionEvent(event) else {
            throw Problem(.internalError)
        }
        let known = try await reading { () throws(LogFailure) in
            try await context.deliveries.attempts(
                of: webhook, in: realm, position: 0, outcome: test.outcome, since: test.at,
                before: .max, limit: 100)
        }
        return known.last { $0.at == test.at }
            ?? DeliveryAttempt(
                position: 0, type: body["type"]?.string ?? DeliveryAttempt.test, at: test.at,
                milliseconds: Int(test.milliseconds), status: Int(test.status),
                outcome: test.outcome, isReplay: false, answer: "")
    }

    /// Nil where no type is asked for.
    fileprivate func testExample(at now: Timestamp) async throws(Problem) -> WebhookExample? {
        guard let type = body["type"]?.string else { return nil }
        let realm = try realm
        let head = try await reading { () throws(LogFailure) in
            try await context.commands.events.page(from: 1, limit: 1, in: realm).head
        }
        return WebhookExample(
            of: type, in: realm, epoch: head.epoch, issuer: try await cloudSource(), at: now)
    }
}
