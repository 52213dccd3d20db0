internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What a follower asks for.
struct FeedQuestion {
    let start: FeedStart
    let filter: EventFilter
    let form: FeedForm
    /// Whether the leaves of all events are shown, and the records of those that are sent.
    let showsLeaves: Bool
    let showsRecords: Bool

    static let parameters = [
        Parameter(
            "Last-Event-ID", in: .header, LogLists.cursor,
            "The cursor of the last frame that was seen. It goes before `from`.",
            example: "3:48211"),
        Parameter(
            "from", in: .query, FeedStart.place,
            "Behind which cursor to begin; `start` for all, `now` for what happens from now on.",
            example: "start"),
        Parameter(
            "from_time", in: .query, Lists.since.schema,
            "Begin with what happened from this time or day (UTC) on; `from` goes before it."),
    ] + EventConditions.parameters + [
        Parameter(
            "to", in: .query, .oneOf(["services", "audit", "internal"]),
            """
            Whose events: those for services, those that audits need as well, or all that there are. \
            Audit, if nothing is said. Types that are named go before it.
            """),
        Parameter(
            "shard", in: .query, shard,
            """
            `2/8`: of eight parts that the streams are divided into, the third. All events of a \
            stream are in one part.
            """, example: "2/8"),
        Parameter(
            "leaves", in: .query, .oneOf(["all"]),
            """
            The leaf of each event that is left out (`urd.leaves`) and each new checkpoint \
            (`urd.checkpoint`), so that a reader can tell that nothing is withheld.
            """),
        Parameter(
            "include", in: .query, .oneOf(["record"]),
            "With each event its canonical record, which is what its leaf is the hash of."),
        Parameter(
            "unnamed", in: .query, .boolean,
            "Frames without `event`, which is what `onmessage` of a browser hears of."),
    ]

    private static let shard = Schema.text(
        3...5,
        .said(
            "a part and how many there are, such as 0/8",
            .sequence([
                .some(Characters("0-9"), 1...2), .text("/"), .some(Characters("0-9"), 1...2),
            ])))

    init(_ call: Call<AdminContext>) throws(Problem) {
        guard let framing = FeedForm.Framing(accepting: call.request.headers.all("Accept")) else {
            throw Problem(
                .notAcceptable, "A feed is text/event-stream or application/x-ndjson.",
                field: "Accept")
        }
        form = FeedForm(framing: framing, isUnnamed: call.parameters["unnamed"]?.bool ?? false)
        showsLeaves = call.text("leaves") != nil
        showsRecords = call.text("include") != nil
        start = try FeedStart(call)
        filter = try Self.filter(call)
    }

    private static func filter(_ call: Call<AdminContext>) throws(Problem) -> EventFilter {
        var filter = try EventConditions.filter(call)
        filter.unasked = unasked[call.text("to") ?? EventReach.audit.rawValue] ?? []
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

    /// What is left out unless it is named, by for whom. Made once: each silent feed holds one of these.
    private static let unasked: [String: Set<String>] = Dictionary(
        uniqueKeysWithValues: [EventReach.services, .audit, .internal].map { reach in
            let names = EventCatalogue.all.filter { !reach.has($0.reach) }.map(\.name)
            return (reach.rawValue, Set(names))
        })
}

extension EventReach {
    /// Who is told of more is told of what fewer are told.
    fileprivate func has(_ other: EventReach) -> Bool {
        switch self {
        case .services: other == .services
        case .audit: other != .internal
        case .internal: true
        }
    }
}
