internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels

/// The events of a realm as they happen, over one response that goes on.
enum FeedRoutes {
    static let table: [Route<AdminContext>] = [feed]

    private static let feed = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/feed", id: "followEvents", tag: "Log",
        summary: "Follow the events of a realm.",
        detail: """
            As Server-Sent Events or, with `Accept: application/x-ndjson`, as lines of JSON: every event \
            in the order of the log, without a gap, and then each as it is committed. A reader that was \
            away goes on with the cursor that it saw last (`Last-Event-ID`), however long ago that was. \
            Conditions of different names must all hold, one of those of the same name must. \
            `urd.progress` moves the cursor where events are left out. A feed that cannot go on ends \
            with `urd.error`.
            """, right: .realm, permission: .eventsRead,
        parameters: [.realm] + FeedQuestion.parameters,
        answer: Answer(
            status: .ok, description: "The events.",
            content: .stream(["text/event-stream", "application/x-ndjson"])),
        refusals: [
            .noSuchRealm, .positionLost, .notAcceptable, .tooManyFeeds, .busy,
        ]
    ) { call throws(Problem) in
        let question = try FeedQuestion(call)
        let realm = try call.realm
        let history = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.page(from: 1, limit: 1, in: realm)
        }.epochs
        if history.head.epoch == 0 {
            try await call.knownLog()
            throw Problem(.noSuchRealm)
        }
        let place = try call.openFeed()
        let start = try await question.start.cursor(
            in: history, of: realm, call.context.commands.events)
        let isProven = question.showsLeaves || question.showsRecords
        let stream = FeedStream(
            place: place,
            following: call.context.feeds.rings.follow(
                realm, filter: question.showsLeaves ? nil : question.filter),
            filter: question.filter, form: question.form,
            proof: isProven
                ? FeedProof(
                    queries: call.context.proofs, realm: realm,
                    showsLeaves: question.showsLeaves, showsRecords: question.showsRecords) : nil,
            start: start, head: history.head.position)
        var response = Response(status: .ok, stream: BodyStream { try await stream.run($0) })
        response.headers["Content-Type"] = question.form.framing.contentType
        // What stands in between passes each frame on as it comes.
        response.headers["X-Accel-Buffering"] = "no"
        return response
    }
}
