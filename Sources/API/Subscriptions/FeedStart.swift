internal import EventSourcing
internal import HTTP
internal import JSON
internal import Values

/// Where a feed begins.
enum FeedStart {
    case start
    case now
    case cursor(LogCursor, field: String)
    case time(Timestamp)

    static let place = Schema.text(
        3...25,
        .said(
            "start, now, or a cursor such as 3:48211",
            .either([.text("start"), .text("now"), LogLists.cursorPattern])))

    init<Context>(_ call: Call<Context>) throws(Problem) {
        guard call.text("from") == nil || call.text("from_time") == nil else {
            throw Problem(
                .invalidParameter, "from says where to begin as well: leave one of them out.",
                field: "from_time")
        }
        for field in ["Last-Event-ID", "from"] {
            guard let text = call.text(field) else { continue }
            self = try FeedStart(text, of: field)
            return
        }
        self = try call.moment("from_time").map { .time($0) } ?? .now
    }

    init(_ text: String?, of field: String) throws(Problem) {
        switch text {
        case "start": self = .start
        case nil, "now": self = .now
        case let text?:
            guard let cursor = LogCursor(text) else {
                throw Problem(
                    .invalidParameter, "\(field) must be a cursor such as 3:48211.",
                    field: field)
            }
            self = .cursor(cursor, field: field)
        }
    }

    /// The place that the follower has everything up to, in the epoch that the log is in.
    func cursor(
        in history: EpochHistory, of realm: RealmID, _ events: any EventLog
    ) async throws(Problem) -> LogCursor {
        let head = history.head
        switch self {
        case .start: return LogCursor(epoch: head.epoch, position: 0)
        case .now: return LogCursor(epoch: head.epoch, position: head.position)
        case .time(let time):
            let position = try await reading { () throws(LogFailure) in
                try await Self.last(before: time, upTo: head.position, of: realm, events)
            }
            return LogCursor(epoch: head.epoch, position: position)
        case .cursor(let cursor, let field):
            return try history.place(of: cursor, field: field)
        }
    }

    /// How far the clocks of nodes may be apart, whose times the log has.
    private static let slack: Int64 = 60
    private static let page = 1000

    /// The last position before the first event of this time or later.
    private static func last(
        before time: Timestamp, upTo head: Int64, of realm: RealmID, _ log: any EventLog
    ) async throws(LogFailure) -> Int64 {
        let surely = time.adding(seconds: -slack)
        var (low, high): (Int64, Int64) = (0, head)
        while low < high {
            let middle = low + (high - low) / 2
            let found = try await log.page(from: middle + 1, limit: 1, in: realm)
            if let event = found.events.first, event.at < surely {
                low = middle + 1
            } else {
                high = middle
            }
        }
        while low < head {
            let events = try await log.page(from: low + 1, limit: page, in: realm).events
            guard !events.isEmpty else { return low }
            for event in events {
                if event.at >= time { return event.position - 1 }
                low = event.position
            }
        }
        return min(low, head)
    }
}
