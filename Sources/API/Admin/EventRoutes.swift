internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The log itself, event by event, and the list that is made from it.
enum EventRoutes {
    static let table: [Route<AdminContext>] = [list, get, auditTrail]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/events", id: "listEvents",
        commandLine: "events list", tag: "Log",
        summary: "List the events of a realm in their order.",
        detail: """
            Personal fields stay sealed. Of several conditions all hold; what each event is about says \
            `docs/event-index.md`. With a condition the list follows the log: with `min_position` it \
            waits until it holds everything up to there.
            """, right: .realm, permission: .eventsRead,
        parameters: [.realm, Lists.limit, Lists.after(Cursor.position)] + EventSelection.parameters,
        answer: Lists.answer(
            "EventList", of: event, next: Cursor.position, example: exampleEvent),
        refusals: [.noSuchRealm, .positionNotReached, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        let after = call.text("after").flatMap(Cursor.position) ?? 0
        let about = try await call.selectedReferences()
        let items =
            about.isEmpty
            ? try await reading { () throws(LogFailure) in
                try await call.context.commands.events.page(
                    from: after + 1, limit: call.limit + 1, in: realm)
            }.events : try await call.events(about: about, after: after, limit: call.limit + 1)
        if items.isEmpty { try await call.knownLog() }
        return Lists.page(call.limit, of: items, item: json) {
            Cursor.encode(position: $0.position)
        }
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/events/{position}", id: "getEvent", tag: "Log",
        summary: "Show an event.", right: .realm, permission: .eventsRead,
        parameters: [.realm, .position],
        answer: Answer(
            status: .ok, description: "The event.", content: .json(event, example: exampleEvent)),
        refusals: [.noSuchRealm, .noSuchEvent]
    ) { call throws(Problem) in
        let realm = try call.realm
        let position = try call.requiredInteger("position")
        let found = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.page(from: position, limit: 1, in: realm)
        }.events
        guard let first = found.first, first.position == position else {
            try await call.knownLog()
            throw Problem(.noSuchEvent)
        }
        return .json(.ok, json(first))
    }

    private static let auditTrail = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/audit-trail", id: "listAuditTrail",
        commandLine: "audit list", tag: "Log",
        summary: "List who did what and when.",
        detail: """
            Of several conditions all hold. A `type` is an event's name, or what the names of many \
            begin with up to a dot: `realm`, `account`. This list follows the log: with \
            `min_position` it waits until it holds everything up to there.
            """,
        right: .realm, permission: .auditRead,
        parameters: [
            .realm, Lists.limit, Lists.after(Cursor.position), .minimumPosition,
            Parameter(
                "actor", in: .query, actor, "Only what this actor did, such as operator:root.",
                example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
            Parameter(
                "stream", in: .query, Fields.id,
                "Only what happened in this stream: the id of an account, a client or an app."),
            Parameter(
                "type", in: .query, type,
                "Only events of this type, such as account.erased or account.",
                example: "client.registered"),
            Lists.since, Lists.until,
            Parameter(
                "order", in: .query, .oneOf(["oldest", "newest"]),
                "Which come first; the oldest if nothing is said."),
        ],
        answer: Lists.answer(
            "AuditTrail", of: entry, next: Cursor.position, example: exampleEntry),
        refusals: [.noSuchRealm, .positionNotReached, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        try await call.wait(for: .auditTrail)
        var asked = AuditSelection()
        asked.actor = call.text("actor")
        asked.stream = try call.text("stream").map { text throws(Problem) in
            guard let id = UUID(text) else { throw Problem(.invalidParameter, field: "stream") }
            return id
        }
        asked.type = call.text("type")
        asked.since = try call.moment("since")
        asked.until = try call.moment("until")
        asked.isNewestFirst = call.text("order") == "newest"
        let (selection, after) = (asked, call.text("after").flatMap(Cursor.position))
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.auditTrail(
                of: realm, selection, after: after, limit: call.limit + 1)
        }
        if items.isEmpty { try await call.knownLog() }
        return Lists.page(call.limit, of: items, item: json) {
            Cursor.encode(position: $0.position)
        }
    }
}

extension EventRoutes {
    private static let event = Schema.named(
        "Event",
        .object(
            .required("position", Fields.position, "Where it stands in the realm's log."),
            .required("stream", Fields.id, "The stream that it belongs to."),
            .required("version", Fields.position, "Where it stands in its stream."),
            .required("type", .text(1...100), "Its wire name."),
            .required("revision", .integer(1...10_000), "Which shape of its fields this is."),
            .required("at", Fields.time, "When it happened."),
            .required("command", Fields.id, "The command that made it."),
            .required("actor", .text(0...300), "Who asked for it."),
            .optional("client", .text(0...300), "Through which client."),
            .optional("correlation", .text(0...300), "The trace that it belongs to."),
            .required("data", .openObject, "Its open fields, without digests and keys."),
            .required(
                "personal", .oneOf(["none", "sealed", "erased", "unreadable"]),
                "Whether it has personal fields, and whether their key is still there.")))

    private static func json(_ event: Recorded) -> JSON {
        var members: JSONObject = [
            "position": .integer(event.position), "stream": .string(event.stream.description),
            "version": .integer(Int64(event.version)), "type": .string(event.name),
            "revision": .integer(Int64(event.revision)), "at": .string(event.at.description),
            "command": .string(event.command.description), "actor": .string(event.actor),
            "data": .object(event.shownFields), "personal": .string(personal(event)),
        ]
        if let client = event.client { members["client"] = .string(client) }
        if let correlation = event.correlation { members["correlation"] = .string(correlation) }
        return .object(members)
    }

    /// What is sealed has its own, audited, way.
    private static func personal(_ event: Recorded) -> String {
        switch event.personal {
        case .none: "none"
        case .opened, .sealed: "sealed"
        case .erased: "erased"
        case .unreadable: "unreadable"
        }
    }

    private static let exampleEvent: JSON = [
        "position": 42, "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "version": 1,
        "type": "client.registered", "revision": 1, "at": "2026-11-21T01:23:45.123456Z",
        "command": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a11",
        "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "data": ["client_name": "Web shop"], "personal": "none",
    ]

    private static let entry = Schema.named(
        "AuditEntry",
        .object(
            .required("position", Fields.position, "Where it stands in the realm's log."),
            .required("at", Fields.time, "When it happened."),
            .required("type", .text(1...100), "What happened."),
            .required("stream", Fields.id, "To what it happened."),
            .required("actor", .text(0...300), "Who asked for it."),
            .optional("client", .text(0...300), "Through which client."),
            .optional("correlation", .text(0...300), "The trace that it belongs to.")))

    /// Parts of Urd have a name, and all others one of their kind.
    private static let actor = Schema.text(
        1...300,
        .said(
            "who it was, such as system, client:shop or user:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
            .either(
                ["system", "mailer", "logout", "notifications"].map { .text($0) } + [
                    .sequence([
                        .some(Characters("a-z"), 1...20), .text(":"),
                        .some(Characters(0x20...0x7E, 0xA1...0xD7FF, 0xE000...0x10FFFF), 1...278),
                    ])
                ])))

    private static let type = Schema.text(
        1...100,
        .said(
            "the type of an event such as client.registered, or the head of many such as client",
            .either(
                Set(EventCatalogue.all.map(\.name))
                    .union(EventCatalogue.all.map { String($0.name.prefix { $0 != "." }) })
                    .sorted().map { .text($0) })))

    private static func json(_ entry: AuditEntry) -> JSON {
        var members: JSONObject = [
            "position": .integer(entry.position), "at": .string(entry.at.description),
            "type": .string(entry.type), "stream": .string(entry.stream.description),
            "actor": .string(entry.actor),
        ]
        if let client = entry.client { members["client"] = .string(client) }
        if let correlation = entry.correlation { members["correlation"] = .string(correlation) }
        return .object(members)
    }

    private static let exampleEntry: JSON = [
        "position": 42, "at": "2026-11-21T01:23:45.123456Z", "type": "client.registered",
        "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
        "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
    ]
}

extension Call<AdminContext> {
    /// The system's log is there although it is no realm.
    func knownLog() async throws(Problem) {
        if try realm != .system { try await knownRealm() }
    }

    /// Waits for what `min_position` asks, if it is given.
    func wait(for list: FollowingList) async throws(Problem) {
        let realm = try realm
        guard let text = text("min_position") else { return }
        guard let wanted = LogPosition(text) else {
            throw Problem(.invalidParameter, field: "min_position")
        }
        guard wanted.realm == realm else { throw Problem(.positionLost, field: "min_position") }
        let reached = try await reading { () throws(LogFailure) in
            try await context.queries.reaches(
                list, wanted.position, epoch: wanted.epoch, of: realm)
        }
        switch reached {
        case .yes: return
        case .notYet: throw Problem(.positionNotReached, field: "min_position")
        case .never: throw Problem(.positionLost, field: "min_position")
        }
    }
}
