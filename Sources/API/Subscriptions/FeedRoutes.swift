internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// The events of a realm as they happen, over one response that goes on.
enum FeedRoutes {
    static let table: [Route<AdminContext>] = [feed]

    static let detail = """
        As Server-Sent Events or, with `Accept: application/x-ndjson`, as lines of JSON: every event \
        in the order of the log, without a gap, and then each as it is committed. A reader that was \
        away goes on with the cursor that it saw last (`Last-Event-ID`), however long ago that was. \
        Conditions of different names must all hold, one of those of the same name must. \
        `urd.progress` moves the cursor where events are left out. A feed that cannot go on ends \
        with `urd.error`.
        """

    static let answer = Answer(
        status: .ok, description: "The events.",
        content: .stream(["text/event-stream", "application/x-ndjson"]))

    private static let feed = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/feed", id: "followEvents", tag: "Log",
        summary: "Follow the events of a realm.", detail: detail, right: .realm,
        permission: .eventsRead, parameters: [.realm] + FeedQuestion.parameters, answer: answer,
        refusals: [
            .noSuchRealm, .positionLost, .notAcceptable, .tooManyFeeds, .busy,
            .noSuchSubscription, .subscriptionHeld, .invalidFilter,
        ]
    ) { call throws(Problem) in
        try call.context.feeds.requireRoom()
        let realm = try call.realm
        var (question, history) = try await call.feedQuestion(in: realm)
        let asked = try await call.feedSubjects(in: realm, &question)
        var subjects = asked.isEmpty ? nil : asked
        let place = try call.context.feeds.place(for: call.context.feedHolder(of: call.caller))
        var start = try await question.start.cursor(
            in: history, of: realm, call.context.commands.events)
        var lease: FeedLease?
        var personal: FeedPersonal?
        if let kept = try await call.keptCursor(history) {
            (start, lease, question.filter) = (kept.start, kept.lease, kept.filter)
            (subjects, personal) = (kept.subjects, kept.personal)
            question.form.showsPersonal = personal != nil
        }
        var stream = question.stream(
            from: start, in: realm, head: history.head.position, at: place, call.context.proofs)
        stream.lease = lease
        stream.personal = personal
        stream.subjects = subjects
        return stream.response
    }
}

extension FeedQuestion {
    func stream(
        from start: LogCursor, in realm: RealmID, head: Int64, at place: FeedPlace,
        _ proofs: (any LogProofQueries)?
    ) -> FeedStream {
        let isProven = showsLeaves || showsRecords
        return FeedStream(
            place: place,
            following: place.feeds.rings.follow(realm, filter: showsLeaves ? nil : filter),
            filter: filter, form: form,
            proof: proofs.flatMap {
                isProven
                    ? FeedProof(
                        queries: $0, realm: realm, showsLeaves: showsLeaves,
                        showsRecords: showsRecords) : nil
            }, start: start, head: head)
    }
}

extension FeedStream {
    var response: Response {
        var response = Response(status: .ok, stream: BodyStream { try await run($0) })
        response.headers["Content-Type"] = form.framing.contentType
        // What stands in between passes each frame on as it comes.
        response.headers["X-Accel-Buffering"] = "no"
        return response
    }
}

extension CommandPort {
    func history(of realm: RealmID) async throws(Problem) -> EpochHistory {
        try await reading { () throws(LogFailure) in
            try await events.page(from: 1, limit: 1, in: realm)
        }.epochs
    }
}

extension Call<AdminContext> {
    /// What an administrator asks of the events of a realm, and how far its log is.
    func feedQuestion(
        in realm: RealmID
    ) async throws(Problem) -> (question: FeedQuestion, history: EpochHistory) {
        var question = try FeedQuestion(self, by: .administrator)
        let history = try await context.commands.history(of: realm)
        if history.head.epoch == 0 {
            try await knownLog()
            throw Problem(.noSuchRealm)
        }
        if text("format") == "cloudevents" {
            question.form.cloudSource = try await cloudSource()
        }
        return (question, history)
    }

    /// Whom the events are to be about; empty where nothing is said.
    ///
    /// - Parameter question: takes the filter where no account has to be looked up for it.
    func feedSubjects(
        in realm: RealmID, _ question: inout FeedQuestion
    ) async throws(Problem) -> EventSubjects {
        var subjects = EventSubjects(index: context.queries, realm: realm)
        for text in EventConditions.texts("account", self) {
            guard let id = UUID(text) else { throw Problem(.invalidParameter, field: "account") }
            subjects.accounts.insert(id)
        }
        for name in EventConditions.texts("client", self) {
            let known = try await context.ask(ClientView.byClientID, name, in: realm)
            // A deleted client has no name any more.
            guard let id = known?.id ?? UUID(name) else {
                throw Problem(
                    .invalidParameter, "The realm has no client '\(name)'.", field: "client")
            }
            subjects.clients.insert(id)
        }
        guard let asked = try await filter(EventAttributes.ofEvents) else { return subjects }
        // A type that is named comes, however far events are sent otherwise.
        question.filter.unasked.subtract(asked.wanted(of: "type"))
        if asked.asksIndex {
            subjects.expression = asked
        } else {
            question.filter.expression = asked
        }
        return subjects
    }
}
