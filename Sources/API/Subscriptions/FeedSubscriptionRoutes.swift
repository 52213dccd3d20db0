internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Readers of the feed whose cursor the server keeps.
enum FeedSubscriptionRoutes {
    static let table: [Route<AdminContext>] = [create, list, get, update, acknowledge, delete]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/subscriptions", id: "createSubscription",
        commandLine: .urd(
            "subscription create",
            examples:
                "urd subscription create --realm demo --name Search --types 'account.*' --from start"
        ), tag: "Subscriptions",
        summary: "Create a subscription: the server keeps how far its reader is.",
        detail: """
            `GET …/feed?subscription=…` begins where the reader confirmed to be. One reader at a time \
            has it. What is sent is what the subscription says.
            """, right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewSubscription",
                .object(
                    FeedSubscriptionSchema.settings(isNew: true) + [
                        .optional(
                            "from", FeedStart.place,
                            "Start of the subscription: start, now (default) or a cursor to begin behind."
                        )
                    ])),
            example: ["name": "Search index", "types": ["account.*"], "from": "start"]),
        answer: .created("The subscription.", FeedSubscriptionSchema.shape),
        refusals: [
            .noSuchRealm, .realmDisabled, .tooManySubscriptions, .positionLost, .invalidFilter,
        ]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = write.newID("subscription")
        let history = try await call.context.commands.history(of: write.realm)
        let start = try await FeedStart(call.body["from"]?.string, of: "from").cursor(
            in: history, of: write.realm, call.context.commands.events)
        let terms = try await call.feedTerms(over: SubscriptionTerms(name: "", url: ""))
        if terms.includesPersonal { try await call.requirePermission(.eventsOpen, for: "include") }
        let command = CreateFeedSubscription(
            id: id, terms: terms, startsAfter: start.position)
        let done = try await call.create(
            command, as: write,
            whenFull: Problem(
                .tooManySubscriptions,
                "A realm may have \(Subscription.Kind.feed.limit) subscriptions."))
        return try await call.shown(id, done, .created)
            .located("/api/admin/realms/\(write.realm)/subscriptions/\(id)")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/subscriptions", id: "listSubscriptions",
        commandLine: .urd("subscription list", examples: "urd subscription list --realm demo"),
        tag: "Subscriptions", summary: "List the subscriptions of a realm's feed.",
        permission: .subscriptionsManage, of: FeedSubscriptionSchema.shape, by: .id(\.id),
        page: SubscriptionView.page(of: .feed))

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/subscriptions/{subscription_id}", id: "getSubscription",
        commandLine: .urd(
            "subscription show", examples: "urd subscription show SUBSCRIPTION --realm demo"),
        tag: "Subscriptions",
        summary: "Show a subscription and how far its reader is.", right: .realm,
        permission: .subscriptionsManage, parameters: [.realm, FeedSubscriptionSchema.id],
        answer: .ok("The subscription.", FeedSubscriptionSchema.shape),
        refusals: [.noSuchRealm, .noSuchSubscription]
    ) { call throws(Problem) in
        let realm = try call.realm
        let view = try await call.knownSubscription()
        let history = try await call.context.commands.history(of: realm)
        let folded = try await call.state(Subscription.self, of: view.id, in: realm)
        let cursor = try await reading { () throws(LogFailure) in
            try await call.context.feedCursors.cursor(of: view.id, in: realm)
        }
        var members = FeedSubscriptionSchema.shape.object(view)
        FeedSubscriptionSchema.add(
            cursor ?? FeedCursor(acknowledged: history.beginning(of: folded.state), sent: 0),
            head: history.head.position, to: &members)
        return .json(.ok, .object(members))
    }

    private static let update = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/subscriptions/{subscription_id}",
        id: "updateSubscription",
        commandLine: .urd(
            "subscription update",
            examples: "urd subscription update SUBSCRIPTION --realm demo --types 'account.*'"),
        tag: "Subscriptions",
        summary: "Update a subscription.",
        detail: """
            What is not named stays as it is. Where something else is sent from now on, a reader that is \
            connected is told urd.taken_over, and connects again.
            """, right: .realm, permission: .subscriptionsManage,
        parameters: [.realm, FeedSubscriptionSchema.id, .idempotencyKey],
        body: Body(
            schema: .named(
                "SubscriptionChange", .object(FeedSubscriptionSchema.settings(isNew: false))),
            example: ["types": ["account.*", "session.*"]]),
        answer: .written(.ok, "The subscription.", FeedSubscriptionSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchSubscription, .invalidFilter]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let view = try await call.knownSubscription()
        let terms = try await call.feedTerms(over: view.terms)
        if terms.includesPersonal { try await call.requirePermission(.eventsOpen, for: "include") }
        let done = try await call.run(
            SubscriptionChange.change(view.id, kind: .feed, terms: terms), as: write,
            orThrow: { $0.ofSubscription })
        let isLess = view.terms.includesPersonal && !terms.includesPersonal
        if isLess || view.terms.filter != terms.filter {
            try await call.afterwards(done) { call, position throws(Problem) in
                try await call.endReader(of: view.id, at: position)
            }
        }
        return try await call.shown(view.id, done, .ok)
    }

    private static let delete = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/subscriptions/{subscription_id}",
        id: "deleteSubscription",
        commandLine: .urd(
            "subscription delete", examples: "urd subscription delete SUBSCRIPTION --realm demo"),
        tag: "Subscriptions",
        summary: "Delete a subscription, and end the feed of its reader.", right: .realm,
        permission: .subscriptionsManage,
        parameters: [.realm, FeedSubscriptionSchema.id, .idempotencyKey],
        answer: .gone("The subscription is deleted."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchSubscription]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try call.requiredID("subscription_id")
        let done = try await call.run(
            SubscriptionChange.delete(id, kind: .feed), as: write,
            orThrow: { _ in Problem(.noSuchSubscription) })
        try await call.afterwards(done) { call, _ throws(Problem) in
            try await reading { () throws(LogFailure) in
                try await call.context.feedCursors.forget(id, in: write.realm)
            }
            await call.context.feeds.leases.renew(call.context.feedCursors)
        }
        return Response(status: .noContent).at(done)
    }

    private static let acknowledge = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/subscriptions/{subscription_id}/ack",
        id: "acknowledgeEvents",
        commandLine: .urd(
            "subscription ack",
            examples: "urd subscription ack SUBSCRIPTION --realm demo --cursor 1:42"),
        tag: "Subscriptions",
        summary: "Confirm that the reader has everything up to a cursor.",
        detail: """
            The next feed of the subscription begins there. What is confirmed already is no fault, and moves \
            nothing back; what was not sent yet cannot be confirmed.
            """, right: .realm, permission: .eventsRead,
        parameters: [.realm, FeedSubscriptionSchema.id],
        body: Body(
            schema: .named(
                "Acknowledgement",
                .object(
                    .required("cursor", LogLists.cursor, "Cursor of a frame of the feed."))),
            example: ["cursor": "3:48211"]),
        answer: .done("The cursor is stored."),
        refusals: [.noSuchRealm, .noSuchSubscription, .cursorOutOfRange, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        let view = try await call.knownSubscription()
        if view.terms.includesPersonal {
            try await call.requirePermission(.eventsOpen, for: "subscription_id")
        }
        guard let cursor = call.body["cursor"]?.string.flatMap({ LogCursor($0) }) else {
            throw Problem(
                .invalidField, "cursor must be a cursor such as 3:48211.", field: "cursor")
        }
        let history = try await call.context.commands.history(of: realm)
        switch history.standing(of: cursor) {
        case .valid, .beyondHead: break
        case .lost(let kept):
            throw Problem(lostBehind: kept, epoch: history.head.epoch, field: "cursor")
        }
        let here = LogCursor(epoch: history.head.epoch, position: cursor.position)
        let outcome = try await reading { () throws(LogFailure) in
            try await call.context.feedCursors.acknowledge(here, of: view.id, in: realm)
        }
        switch outcome {
        case .taken: return Response(status: .noContent)
        case .missing:
            let folded = try await call.state(Subscription.self, of: view.id, in: realm)
            guard here.position <= history.beginning(of: folded.state).position else {
                throw Problem(outOf: nil)
            }
            return Response(status: .noContent)
        case .outOfRange(let known):
            guard here.position <= known.acknowledged.position else { throw Problem(outOf: known) }
            return Response(status: .noContent)
        }
    }
}

extension Call<AdminContext> {
    fileprivate func knownSubscription() async throws(Problem) -> SubscriptionView {
        do throws(Problem) {
            return try await knownSubscription(try requiredID("subscription_id"))
        } catch {
            if error.kind == .noSuchSubscription { try await knownRealm() }
            throw error
        }
    }

    /// Takes the subscription from its reader, so that the next one can have it. What the reader was sent behind the
    /// change was chosen by what the subscription said before: it cannot be confirmed.
    fileprivate func endReader(of id: UUID, at position: Int64) async throws(Problem) {
        let realm = try realm
        let history = try await context.commands.history(of: realm)
        let folded = try await state(Subscription.self, of: id, in: realm)
        let (_, lease) = try await reading { () throws(LogFailure) in
            try await context.feeds.leases.claim(
                FeedLeaseName(realm, id, reader: newID()),
                from: history.beginning(of: folded.state), takingOver: true, context.feedCursors)
        }
        try await reading { () throws(LogFailure) in
            try await context.feedCursors.limit(id, sentTo: position, in: realm)
        }
        await lease?.release()
    }

    fileprivate func shown(
        _ id: UUID, _ done: WriteReceipt, _ status: Status
    ) async throws(Problem) -> Response {
        let folded = try await state(Subscription.self, of: id, after: done)
        let view = SubscriptionView(
            id: id, kind: .feed, terms: folded.state.terms, standing: folded.state.standing,
            createdAt: folded.createdAt, changedAt: folded.changedAt, version: 0)
        return Response.json(status, FeedSubscriptionSchema.shape.json(view)).at(done)
    }
}

extension Problem {
    fileprivate init(outOf known: FeedCursor?) {
        self.init(
            .cursorOutOfRange,
            known.map {
                "\($0.acknowledged) was confirmed, and events were sent up to \($0.sentCursor)."
            } ?? "Nothing was sent yet.", field: "cursor")
        guard let known else { return }
        members["acknowledged"] = .string(known.acknowledged.description)
        members["sent"] = .string(known.sentCursor.description)
    }
}

extension SubscriptionChange.ChangeRejection {
    fileprivate var ofSubscription: Problem {
        switch self {
        case .notFound: Problem(.noSuchSubscription)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
