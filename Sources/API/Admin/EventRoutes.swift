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
        commandLine: .urd(
            "events list", examples: "urd events list --account ann@example.org --all",
            "urd events list --client shop --json"), tag: "Log",
        summary: "List the events of a realm in their order.",
        detail: """
            Personal fields stay sealed. Conditions of different names must all hold, one of those of the \
            same name must; what each event is about says `docs/event-index.md`. Where few events are \
            wanted a page may have none of them and still say that there is `more`. With `wait` an \
            answer without events waits for the next one.
            """, right: .realm, permission: .eventsRead,
        parameters: [.realm, limit, LogLists.after] + EventConditions.parameters
            + EventSelection.parameters + FilterQuestion.beside + [wait],
        answer: LogLists.answer(
            "EventList", of: EventEnvelope.schema, atMost: most, example: EventEnvelope.example),
        refusals: [
            .noSuchRealm, .positionNotReached, .positionLost, .tooManyFeeds, .busy, .invalidFilter,
        ]
    ) { call throws(Problem) in
        let realm = try call.realm
        var place = try await call.logPlace()
        if place.epochs.head.epoch == 0 { try await call.knownLog() }
        var filter = try EventConditions.filter(call)
        var subjects = EventSubjects(index: call.context.queries, realm: realm)
        let asked = try await call.filter(FilterQuestion.beside, EventAttributes.ofEvents)
        if asked?.asksIndex == true {
            subjects.expression = asked
        } else {
            filter.expression = asked
        }
        var about = try await call.selectedReferences()
        if about.isEmpty, let asked { about = EventReferences(demandedBy: asked) }
        let pages = EventPages(
            context: call.context, realm: realm, about: about,
            filter: filter, subjects: subjects.isEmpty ? nil : subjects, limit: call.limit)
        if !pages.about.isEmpty { place.standing = try await call.wait(for: .eventIndex) }
        let page = try await pages.page(after: place.position)
        let seconds = call.integer("wait") ?? 0
        guard seconds > 0, page.events.isEmpty, !page.hasMore else {
            return place.answer(page)
        }
        let awaited = AwaitedEvents(
            pages: pages, start: place.moved(to: page.reached),
            place: try call.context.feeds.place(for: call.context.feedHolder(of: call.caller)),
            following: call.context.feeds.rings.follow(
                realm,
                filter: pages.about.isEmpty && pages.subjects == nil ? pages.filter : nil),
            seconds: UInt64(seconds))
        var response = Response(status: .ok, stream: BodyStream { try await awaited.run($0) })
        response.headers["Content-Type"] = "application/json"
        return response
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/events/{position}", id: "getEvent", tag: "Log",
        summary: "Show an event.", right: .realm, permission: .eventsRead,
        parameters: [.realm, .position],
        answer: .ok("The event.", EventEnvelope.schema, example: EventEnvelope.example),
        refusals: [.noSuchRealm, .noSuchEvent]
    ) { call throws(Problem) in
        let realm = try call.realm
        let position = try call.requiredInteger("position")
        let page = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.page(from: position, limit: 1, in: realm)
        }
        guard let event = page.events.first, event.position == position else {
            try await call.knownLog()
            guard position > page.head.position else {
                throw Problem(
                    .logDamaged, "Position \(position) is missing; urd verify says more.")
            }
            throw Problem(.noSuchEvent)
        }
        return .json(.ok, EventEnvelope(event, epoch: page.head.epoch, issuer: "").json)
    }

    private static let auditTrail = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/audit-trail", id: "listAuditTrail",
        commandLine: .urd(
            "audit list", examples: "urd audit list --since yesterday --type account",
            "urd audit list --actor operator:root --all --csv"), tag: "Log",
        summary: "List who did what and when.",
        detail: """
            Of several conditions all hold; `filter` has all that is not a parameter. A `type` is an event's name, or what the names of many \
            begin with up to a dot: `realm`, `account`. This list follows the log: with \
            `min_position` it waits until it holds everything up to there.
            """,
        right: .realm, permission: .auditRead,
        parameters: [
            .realm, Lists.limit, LogLists.after, .minimumPosition,
            Parameter(
                "actor", in: .query, actor, "Actor of the events, such as operator:root.",
                example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
            Parameter(
                "stream", in: .query, Fields.id,
                "Stream of the events: the id of an account, a client or an app."),
            Parameter(
                "type", in: .query, type,
                "Event type, such as account.erased, or the start of types, such as account.",
                example: .string(ClientEvent.Form.registered.name)),
            Lists.since, Lists.until,
            Parameter(
                "order", in: .query, .oneOf(["oldest", "newest"]),
                "Order of the events; the oldest first by default."),
        ] + FilterQuestion.ofEvents,
        answer: LogLists.answer("AuditTrail", of: entry),
        refusals: [.noSuchRealm, .positionNotReached, .positionLost, .invalidFilter, .tooWide]
    ) { call throws(Problem) in
        let realm = try call.realm
        let standing = try await call.wait(for: .auditTrail)
        var asked = AuditSelection()
        asked.actor = call.text("actor")
        asked.stream = try call.text("stream").map { text throws(Problem) in
            guard let id = UUID(text) else { throw Problem(.invalidParameter, field: "stream") }
            return id
        }
        asked.type = call.text("type")
        (asked.since, asked.until) = try call.period()
        asked.isNewestFirst = call.text("order") == "newest"
        asked.filter = try await call.filter(FilterQuestion.ofEvents, EventAttributes.ofEvents)
        if asked.filter?.asksIndex == true { try await call.wait(for: .eventIndex) }
        let (selection, place) = (asked, try await call.logPlace(in: standing))
        let found = try await reading { () throws(LogFailure) in
            try await call.context.queries.page(
                of: realm, selection, after: place.after?.position, limit: call.limit + 1)
        }
        if found.items.isEmpty { try await call.knownLog() }
        return try place.page(call.limit, of: found, item: entry.json, position: \.position) { $0 }
    }
}

extension EventRoutes {
    private static let most = 1000

    private static let limit = Parameter(
        "limit", in: .query, .integer(1...Int64(most)),
        "Maximum number of items; \(Lists.defaultLimit) by default.", example: 50)

    private static let wait = Parameter(
        "wait", in: .query, .integer(0...30),
        "Seconds for which a response without events waits for the next event.", example: 30)

    private static let entry = Shape<AuditEntry>(
        "AuditEntry",
        .required(
            "position", Fields.position, "Position of the event in the realm's log.", \.position,
            example: 42),
        .required("at", "Time of the event.", \.at),
        .required(
            "type", .text(1...100), "Event type.", \.type,
            example: .string(ClientEvent.Form.registered.name)),
        .required("stream", "Stream of the event.", \.stream),
        .required(
            "actor", .text(0...300), "Actor that caused the event.", \.actor,
            example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
        .optional(
            "client", .text(0...300), "Client through which the actor sent the request.", \.client),
        .optional(
            "correlation", .text(0...300), "`traceparent` of the request (W3C Trace Context).",
            \.correlation))

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
}

extension QuestionPort {
    /// The audit trail with a filter or without one.
    fileprivate func page(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> ScannedPage<AuditEntry, Int64> {
        guard selection.filter == nil else {
            return try await ask(
                AuditEntry.filteredTrail, (selection, after: position, limit: limit), in: realm)
        }
        let found = try await ask(
            AuditEntry.trail, (selection, after: position, limit: limit), in: realm)
        guard let hole = found.firstIndex(where: \.isMissing) else { return ScannedPage(found) }
        // A reader has all that is before it, and is told then.
        guard let last = found[..<hole].last else { throw .damaged }
        return ScannedPage(Array(found[..<hole]), stoppedAt: last.position)
    }
}

extension Call<AdminContext> {
    /// The system's log is there although it is no realm.
    func knownLog() async throws(Problem) {
        if try realm != .system { try await knownRealm() }
    }

    /// Where the log ends. It is asked for before what is read as of now: nothing up to there is missing then.
    func standing() async throws(Problem) -> ListStanding {
        let realm = try realm
        let head = try await reading { () throws(LogFailure) in
            try await context.commands.events.head(of: realm)
        }
        return ListStanding(position: head.position, head: head.position)
    }

    /// Waits for what `min_position` asks, if it is given, and says how far the list is.
    @discardableResult
    func wait(for list: FollowingList) async throws(Problem) -> ListStanding {
        let realm = try realm
        guard let text = text("min_position") else { return try await standing(of: list) }
        guard let wanted = LogPosition(text) else {
            throw Problem(.invalidParameter, field: "min_position")
        }
        guard wanted.realm == realm else { throw Problem(.positionLost, field: "min_position") }
        var reached = try await context.ask(
            FollowedPosition.reached, (list, wanted.position, wanted.epoch), in: realm)
        if reached == .never {
            // A failover begins another epoch as well, and mostly keeps what was in the log.
            let history = try await context.commands.history(of: realm)
            let cursor = LogCursor(epoch: wanted.epoch, position: wanted.position)
            if history.standing(of: cursor) == .valid {
                reached = try await context.ask(
                    FollowedPosition.reached, (list, wanted.position, history.head.epoch),
                    in: realm)
            }
        }
        switch reached {
        case .yes(let now): return ListStanding(now)
        case .notYet(let now):
            throw Problem(notReached: wanted.position, now, field: "min_position")
        case .never: throw Problem(.positionLost, field: "min_position")
        }
    }

    private func standing(of list: FollowingList) async throws(Problem) -> ListStanding {
        let realm = try realm
        let now = try await context.ask(FollowedPosition.now, list, in: realm)
        return now.map { ListStanding($0) } ?? ListStanding(position: 0, head: 0)
    }
}

extension ListStanding {
    init(_ now: FollowedPosition) {
        self.init(position: now.position, head: now.head)
    }
}

extension Problem {
    /// A list that follows the log is behind what was asked for: where it is, and when to ask again.
    init(notReached wanted: Int64?, _ now: FollowedPosition, field: String? = nil) {
        // Thousands of events a second are followed by a busy machine, too.
        let seconds = now.isHalted ? 60 : min(60, 1 + (now.head - now.position) / 5000)
        self.init(
            .positionNotReached,
            "The list is at position \(now.position), the log at \(now.head)"
                + (wanted.map { "; \($0) was asked for" } ?? "") + ". "
                + (now.isHalted
                    ? "It stopped there until an operator mends it: urd doctor says why. " : "")
                + "Ask again in \(seconds) s.", field: field)
        members = ListStanding(now).members
        headers = [("Retry-After", String(seconds))]
    }
}
