internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A part of the log once more, as it happened, at the speed that is asked for.
enum ReplayRoutes {
    static let table: [Route<AdminContext>] = [replay]

    private static let parameters: [Parameter] =
        FeedQuestion.common + FeedQuestion.subjects + [
            Parameter(
                "until", in: .query, LogLists.cursor,
                "Cursor of the last event to replay; the head of the log by default.",
                example: "3:48211"),
            Parameter(
                "until_time", in: .query, Lists.since.schema,
                "Time or day (UTC) at which the replay ends."),
            Parameter(
                "speed", in: .query, .integer(0...1_000_000),
                "Seconds of the log per second: 1 as it happened, 0 as fast as possible; "
                    + "60 by default."
            ),
            Parameter(
                "max_gap", in: .query, .integer(0...3_600),
                "Longest wait for an event, in seconds; 2 by default."),
        ]

    private static let replay = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/replay", id: "replayEvents", tag: "Log",
        summary: "Replay the events of a realm at a speed.",
        detail: """
            The frames of the feed, each when it is its turn; `urd.clock` says once a second what time it is in the \
            replay. To pause, hang up; to go on, ask again with the cursor that came last (`Last-Event-ID`). At its end \
            comes `urd.replayed`. No personal data is opened.
            """,
        right: .realm, permission: .eventsRead, parameters: [.realm] + parameters,
        answer: FeedRoutes.answer,
        refusals: [
            .noSuchRealm, .positionLost, .notAcceptable, .tooManyFeeds, .busy, .invalidFilter,
        ]
    ) { call throws(Problem) in
        try call.context.feeds.requireRoom()
        let realm = try call.realm
        let (asked, history) = try await call.feedQuestion(in: realm)
        var question = asked
        let events = call.context.commands.events
        var from = question.start
        if call.text("Last-Event-ID") == nil, call.text("from") == nil,
            call.text("from_time") == nil
        {
            from = .start
        }
        let start = try await from.cursor(in: history, of: realm, events)
        var end = history.head.position
        if let text = call.text("until"), let cursor = LogCursor(text) {
            end = try history.place(of: cursor, field: "until").position
        }
        guard start.position <= end else {
            throw Problem(
                .invalidParameter, "until is before the place to begin at, \(start).",
                field: "until")
        }
        let until = try call.moment("until_time")
        if case .time(let time) = question.start, let until, until < time {
            throw Problem(
                .invalidParameter, "until_time is before from_time.", field: "until_time")
        }
        let subjects = try await call.feedSubjects(in: realm, &question)
        let place = try call.context.feeds.place(for: call.context.feedHolder(of: call.caller))
        return ReplayStream(
            place: place, following: place.feeds.rings.follow(realm, filter: question.filter),
            filter: question.filter, form: question.form, start: start, end: end,
            until: until, subjects: subjects.isEmpty ? nil : subjects,
            clock: ReplayClock(
                speed: call.parameters["speed"]?.integer ?? 60,
                longestGap: .seconds(call.parameters["max_gap"]?.integer ?? 2))
        ).response
    }
}
