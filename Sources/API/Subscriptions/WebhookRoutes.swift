internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Where a realm's events are sent.
enum WebhookRoutes {
    static let table: [Route<AdminContext>] = [
        create, list, get, update, pause, resume, rotate, delete,
    ]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks", id: "createWebhook",
        commandLine: .urd(
            "webhook create",
            examples: "urd webhook create --realm demo --name Billing \\\n"
                + "    --url https://billing.example.org/urd --types 'account.*'"), tag: "Webhooks",
        summary: "Send the events of a realm to an address.",
        detail: """
            Messages are signed by Standard Webhooks 1.0.0 with the secret in this answer, which is not \
            told again.
            """, right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewWebhook",
                .object(
                    WebhookSchema.settings(isNew: true) + [
                        .optional(
                            "starts_after", WebhookSchema.position,
                            "Position after which events are sent; the end of the log by default.")
                    ])),
            example: [
                "url": "https://crm.example.org/urd", "name": "CRM", "types": ["account.*"],
            ]),
        answer: .created("The webhook and its secret.", WebhookSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .tooManyWebhooks, .invalidFilter]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = write.newID("webhook")
        let mint = try await call.mint(of: write.realm)
        guard let secret = mint.webhookSecret(of: write.command) else {
            throw Problem(.internalError)
        }
        let terms = try await call.webhookTerms(over: SubscriptionTerms(name: "", url: ""))
        if terms.includesPersonal { try await call.requirePermission(.eventsOpen, for: "include") }
        let command = CreateWebhook(
            id: id, terms: terms, secret: secret, startsAfter: try await call.startsAfter(),
            mayBeLoopback: call.context.deliveries.mayBeLoopback)
        let done = try await call.create(
            command, as: write,
            whenFull: Problem(
                .tooManyWebhooks,
                "A realm may have \(Subscription.Kind.webhook.limit) webhooks."))
        let made = try await call.state(Subscription.self, of: id, after: done)
        guard let told = made.state.secret else { throw Problem.secretRetired }
        var members = try WebhookSchema.json(id, made)
        members["secret"] = .string(WebhookSignature.text(ofSecret: told.shared))
        return Response.json(.created, .object(members)).at(done)
            .located("/api/admin/realms/\(write.realm)/webhooks/\(id)")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/webhooks", id: "listWebhooks",
        commandLine: .urd("webhook list", examples: "urd webhook list --realm demo"),
        tag: "Webhooks", summary: "List the webhooks of a realm.",
        permission: .subscriptionsManage, of: WebhookSchema.shape, by: .id(\.id),
        page: SubscriptionView.page(of: .webhook))

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/webhooks/{webhook_id}", id: "getWebhook",
        commandLine: .urd("webhook show", examples: "urd webhook show WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Show a webhook and how its deliveries stand.", right: .realm,
        permission: .subscriptionsManage, parameters: [.realm, WebhookSchema.id],
        answer: .ok("The webhook.", WebhookSchema.shape),
        refusals: [.noSuchRealm, .noSuchWebhook]
    ) { call throws(Problem) in
        let view = try await call.knownWebhook()
        let realm = try call.realm
        let folded = try await call.state(Subscription.self, of: view.id, in: realm)
        var members = try WebhookSchema.json(view.id, folded)
        let standing = try await reading { () throws(LogFailure) in
            try await call.context.deliveries.standing(of: view.id, in: realm)
        }
        if let standing { WebhookSchema.add(standing, to: &members) }
        return .json(.ok, .object(members))
    }

    private static let update = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/webhooks/{webhook_id}", id: "updateWebhook",
        commandLine: .urd(
            "webhook update", examples: "urd webhook update WEBHOOK --realm demo --order strict"),
        tag: "Webhooks",
        summary: "Update a webhook.",
        detail: """
            What is not named stays as it is. What was not delivered yet is sent by the new terms, or not at \
            all, once what is under way has been answered.
            """, right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        body: Body(
            schema: .named("WebhookChange", .object(WebhookSchema.settings(isNew: false))),
            example: ["types": ["account.*", "session.*"]]),
        answer: .written(.ok, "The webhook.", WebhookSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook, .invalidFilter]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let view = try await call.knownWebhook()
        let folded = try await call.state(Subscription.self, of: view.id, in: write.realm)
        let terms = try await call.webhookTerms(over: folded.state.terms)
        // Another address would have personal data sent elsewhere.
        if terms.includesPersonal { try await call.requirePermission(.eventsOpen, for: "include") }
        let done = try await call.run(
            SubscriptionChange.change(
                view.id, terms: terms,
                mayBeLoopback: call.context.deliveries.mayBeLoopback), as: write)
        return try await call.shown(view.id, done)
    }

    private static let delete = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/webhooks/{webhook_id}", id: "deleteWebhook",
        commandLine: .urd("webhook delete", examples: "urd webhook delete WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Delete a webhook, with all that waits for it.", right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        answer: .gone("The webhook is deleted."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let done = try await call.run(
            SubscriptionChange.delete(try call.requiredID("webhook_id")),
            as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let pause = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/pause", id: "pauseWebhook",
        commandLine: .urd("webhook pause", examples: "urd webhook pause WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Pause a webhook until it is resumed.",
        detail: "No event is lost: deliveries continue where they stopped.", right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        answer: .written(.ok, "The webhook.", WebhookSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let id = try call.requiredID("webhook_id")
        let done = try await call.run(
            SubscriptionChange.pause(id), as: call.write(in: try call.realm))
        return try await call.shown(id, done)
    }

    private static let resume = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/resume", id: "resumeWebhook",
        commandLine: .urd(
            "webhook resume", examples: "urd webhook resume WEBHOOK --realm demo --from stop"),
        tag: "Webhooks",
        summary: "Resume a webhook that was paused or disabled.",
        detail: """
            What waits is tried at once, also by one that was active. One that was disabled because the log \
            was set back (`rewound`) is resumed by saying where it starts: `kept_to`, once the receiver has \
            undone what came later.
            """, right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        body: Body(
            schema: .named(
                "WebhookResumption",
                .object(
                    .optional(
                        "from", .oneOf(["stop", "now"]),
                        "Point to resume at: stop (where it stopped, default) or now."),
                    .optional(
                        "starts_after", WebhookSchema.position,
                        "Position to resume after, in place of `from`. Waiting deliveries are "
                            + "dropped."))),
            example: ["from": "stop"]),
        answer: .written(.ok, "The webhook.", WebhookSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook, .positionLost]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try call.requiredID("webhook_id")
        try await call.requireRight(to: try await call.knownWebhook())
        var start = try await call.startsAfter()
        if let place = call.body["from"]?.string {
            guard start == nil else {
                throw Problem(
                    .invalidField, "from and starts_after exclude each other.", field: "from")
            }
            if place == "now" {
                start = try await reading { () throws(LogFailure) in
                    try await call.context.commands.events.head(of: write.realm)
                }.position
            }
        }
        let done = try await call.run(
            SubscriptionChange.resume(id, startsAfter: start), as: write)
        return try await call.shown(id, done)
    }

    private static let rotate = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/webhooks/{webhook_id}/secret",
        id: "rotateWebhookSecret",
        commandLine: .urd(
            "webhook rotate-secret", examples: "urd webhook rotate-secret WEBHOOK --realm demo"),
        tag: "Webhooks",
        summary: "Give a webhook a new secret.",
        detail: "The old one signs as well for a while, so that receivers have time to change.",
        right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, WebhookSchema.id, .idempotencyKey],
        body: Body(
            schema: .named(
                "WebhookRotation",
                .object(
                    .optional(
                        "keep_old",
                        .integer(
                            SubscriptionChange.overlap),
                        "Seconds for which the old secret still signs; a day by default."))),
            example: ["keep_old": 86_400]),
        answer: .written(.ok, "The webhook and its new secret.", WebhookSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchWebhook]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try call.requiredID("webhook_id")
        try await call.requireRight(to: try await call.knownWebhook())
        let mint = try await call.mint(of: write.realm)
        guard let secret = mint.webhookSecret(of: write.command) else {
            throw Problem(.internalError)
        }
        let done = try await call.run(
            SubscriptionChange.rotateSecret(
                id, secret: secret, keepsOldFor: call.body["keep_old"]?.integer ?? 86_400,
                now: call.context.time.now(in: write.realm)), as: write)
        let made = try await call.state(Subscription.self, of: id, after: done)
        guard let told = made.state.secret else { throw Problem.secretRetired }
        var members = try WebhookSchema.json(id, made)
        members["secret"] = .string(WebhookSignature.text(ofSecret: told.shared))
        return Response.json(.ok, .object(members)).at(done)
    }
}

extension Call<AdminContext> {
    /// The webhook that the path names.
    func knownWebhook() async throws(Problem) -> SubscriptionView {
        let id = try requiredID("webhook_id")
        return try await found(or: .noSuchWebhook) { realm throws(LogFailure) in
            let found = try await context.queries.ask(SubscriptionView.byID, id, in: realm)
            return found?.kind == .webhook ? found : nil
        }
    }

    /// A webhook that has personal data sent goes to more, or elsewhere, by those alone who may open it.
    func requireRight(to webhook: SubscriptionView) async throws(Problem) {
        guard webhook.terms.includesPersonal else { return }
        try await requirePermission(.eventsOpen, for: "webhook_id")
    }

    /// The position that the body names, which is one of the log.
    fileprivate func startsAfter() async throws(Problem) -> Int64? {
        guard let start = body["starts_after"]?.integer else { return nil }
        let realm = try realm
        let head = try await reading { () throws(LogFailure) in
            try await context.commands.events.head(of: realm)
        }
        guard start <= head.position else {
            throw Problem(
                .invalidField, "starts_after is behind the end of the log, \(head.position).",
                field: "starts_after")
        }
        return start
    }

    fileprivate func shown(_ id: UUID, _ done: WriteReceipt) async throws(Problem) -> Response {
        let folded = try await state(Subscription.self, of: id, after: done)
        return Response.json(.ok, .object(try WebhookSchema.json(id, folded))).at(done)
    }
}
