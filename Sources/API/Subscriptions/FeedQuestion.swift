internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What a follower asks for.
struct FeedQuestion {
    enum Reader {
        case administrator
        /// A client of the realm: it is told what services act on, and nothing else.
        case service
    }

    let start: FeedStart
    var filter: EventFilter
    var form: FeedForm
    /// Whether the leaves of all events are shown, and the records of those that are sent.
    let showsLeaves: Bool
    let showsRecords: Bool

    /// Those of every feed.
    static let common =
        [
            Parameter(
                "Last-Event-ID", in: .header, LogLists.cursor,
                "Cursor of the last received frame. It takes precedence over `from`.",
                example: "3:48211"),
            Parameter(
                "from", in: .query, FeedStart.place,
                "Cursor behind which the feed begins; `start` for all events, `now` for "
                    + "new events only.",
                example: "start"),
            Parameter(
                "from_time", in: .query, Lists.since.schema,
                "Time or day (UTC) at which the feed begins; `from` takes precedence."),
        ] + EventConditions.parameters + [
            FilterText.parameter,
            Parameter(
                "to", in: .query, .oneOf(["services", "audit", "internal"]),
                "Visibility of the events: those for services, those that audits need as "
                    + "well, or all. The default is audit for an administrator, services for a "
                    + "client. Explicit types take precedence."),
            Parameter(
                "shard", in: .query, shard,
                "Shard of the streams: `2/8` is the third of eight. All events of a "
                    + "stream are in one shard.", example: "2/8"),
            Parameter(
                "format", in: .query, .oneOf(["urd", "cloudevents"]),
                "Format of an event: as everywhere in this API, or as a CloudEvent (1.0)."),
            Parameter(
                "unnamed", in: .query, .boolean,
                "Whether frames have no `event` field, so that a browser's `onmessage` "
                    + "receives them."),
        ]

    /// Whom the events are to be about.
    static let subjects = [
        Parameter(
            "account", in: .query, .list(of: Fields.id, 1...50),
            "Account that the events are about, also those that do not name it "
                + "themselves."),
        Parameter(
            "client", in: .query, .list(of: ClientSchema.clientID, 1...50),
            "Client that the events are about: its OAuth client id, or the stream id "
                + "of a deleted client."),
    ]

    static let parameters =
        common + subjects + [
            Parameter(
                "leaves", in: .query, .oneOf(["all"]),
                "Whether to send the leaf of each omitted event (`urd.leaves`) and each "
                    + "new checkpoint (`urd.checkpoint`), so that a reader can verify that no "
                    + "event is withheld."),
            Parameter(
                "include", in: .query, .oneOf(["record"]),
                "Whether to send the canonical record of each event, whose hash is its leaf."),
            Parameter(
                "subscription", in: .query, Fields.id,
                "Subscription whose confirmed cursor and filter are used. It has one "
                    + "reader at a time."),
            Parameter(
                "take_over", in: .query, .boolean,
                "Whether to take the subscription over from its current reader, which is "
                    + "disconnected."
            ),
        ]

    private static let shard = Schema.text(
        3...5,
        .said(
            "a part and how many there are, such as 0/8",
            .sequence([
                .some(Characters("0-9"), 1...2), .text("/"), .some(Characters("0-9"), 1...2),
            ])))

    init<Context>(_ call: Call<Context>, by reader: Reader) throws(Problem) {
        guard let framing = FeedForm.Framing(accepting: call.request.headers.all("Accept")) else {
            throw Problem(
                .notAcceptable, "A feed is text/event-stream or application/x-ndjson.",
                field: "Accept")
        }
        form = FeedForm(framing: framing, isUnnamed: call.parameters["unnamed"]?.bool ?? false)
        showsLeaves = call.text("leaves") != nil
        showsRecords = call.text("include") != nil
        start = try FeedStart(call)
        filter = try Self.filter(call, for: reader)
    }

    private static func filter<Context>(
        _ call: Call<Context>, for reader: Reader
    ) throws(Problem) -> EventFilter {
        var filter = try EventConditions.filter(call, beside: ["account", "client"])
        let reach = call.text("to").flatMap(EventReach.init) ?? reader.reach
        filter.unasked = reach.unasked
        var named = filter.types.names
        if case .service = reader, let text = call.text(FilterText.parameter.name) {
            let asked = try FilterText.expression(of: text, EventAttributes.ofServices)
            named.formUnion(asked.wanted(of: "type"))
            filter.expression = asked
        }
        try reader.check(reach, named)
        if let text = call.text("shard") {
            let parts = text.split(separator: "/").compactMap { Int($0) }
            guard parts.count == 2,
                let shard = EventFilter.Shard(index: parts[0], of: parts[1])
            else {
                throw Problem(
                    .invalidParameter,
                    "shard must be a part from 0 on, below how many there are, which is at most "
                        + "\(EventFilter.Shard.most).", field: "shard")
            }
            filter.shard = shard
        }
        return filter
    }
}

extension FeedQuestion.Reader {
    fileprivate var reach: EventReach {
        switch self {
        case .administrator: .audit
        case .service: .services
        }
    }

    /// Says no where more is asked for than the reader may be told: to leave it out in silence would look as
    /// if it never happened.
    fileprivate func check(
        _ reach: EventReach, _ types: Set<String>
    ) throws(Problem) {
        switch self {
        case .administrator: return
        case .service: break
        }
        guard reach == .services else {
            throw Problem(
                .forbidden, "A client is told what services act on: `to` is services.", field: "to")
        }
        let hidden = EventCatalogue.all.filter { $0.reach != .services }.map(\.name)
        guard let asked = hidden.sorted().first(where: types.contains) else { return }
        throw Problem(.forbidden, "A client is not told of '\(asked)'.", field: "type")
    }
}
