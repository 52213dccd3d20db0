import EventSourcing
import EventStore
import Values

/// Reads the log forward, and goes on with what is appended.
struct EventsTail: Subcommand {
    static let path = ["events", "tail"]
    static let summary = "Read a realm's events in order, and follow as they happen"
    static let examples = [
        "urd events tail --type client.registered --limit 5", "urd events tail --follow --json",
    ]
    static let options =
        EventOutput.options + EventSelection.options + [
            Option.flag("follow", "Go on with what is appended"),
            Option.value(
                "from", "position",
                "The first position, or the cursor such as 3:48211 behind which to begin; otherwise "
                    + "the last events that are asked for"),
            Option.value(
                "limit", "number",
                "So many events and no more; without --from, --since and --follow, 10"),
        ]
    static let settings = Store.settings

    /// As many as a disclosure names at most.
    private static let page = 200

    func run(_ call: Invocation) async throws -> ExitCode {
        let output = try EventOutput(call)
        let filter = try EventSelection(call.arguments)
        let isFollowing = call.arguments.has("follow")
        let limit = try call.arguments.position("limit")
        let from = try TailStart(call.arguments)
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        let head = try await output.head(in: store)
        let usual: Int64 = filter.since == nil ? 10 : .max
        let last = isFollowing ? min(usual, limit ?? usual) : limit ?? usual
        let start =
            if let from { try await from.position(in: output.realm, store.log) } else {
                try await first(of: last, filter, upTo: head, output.realm, store.log)
            }
        let polling = Task { try await store.log.pollHeads(every: .milliseconds(50)) }
        defer { polling.cancel() }
        try await show(
            from: start, to: isFollowing ? .max : head, filter, limit: limit ?? .max, output, call,
            store)
        return .success
    }

    /// Where the last so many events that pass begin; behind the head where there are none.
    private func first(
        of count: Int64, _ filter: EventSelection, upTo head: Int64, _ realm: RealmID,
        _ log: PostgresLog
    ) async throws -> Int64 {
        if filter.isOpen { return max(1, head - min(head, count) + 1) }
        var (first, left, upper) = (head + 1, count, head)
        while upper > 0, left > 0 {
            let lower = max(1, upper - 999)
            let page = try await log.page(from: lower, limit: Int(upper - lower + 1), in: realm)
                .events
            for event in page.reversed() where left > 0 && filter.passes(event) {
                first = event.position
                left -= 1
            }
            // Commands that are decided at the same time are recorded in any order: times go back by moments.
            if let since = filter.since?.adding(seconds: -60), let oldest = page.first,
                oldest.at < since
            {
                break
            }
            upper = lower - 1
        }
        return first
    }

    private func show(
        from start: Int64, to end: Int64, _ filter: EventSelection, limit: Int64,
        _ output: EventOutput, _ call: Invocation, _ store: Store
    ) async throws {
        var (next, left) = (start, limit)
        let hub = store.log.hub
        let restarts = hub.restarts(of: output.realm)
        while left > 0, next <= end {
            let page = try await output.read(from: next, limit: Self.page, in: store)
            // Positions of another epoch are others, though they have the same numbers.
            guard hub.restarts(of: output.realm) == restarts else {
                throw CommandFailure(
                    "the database was restored or failed over, and may have lost its newest events",
                    remedy: "Begin anew at a position that you know: --from.")
            }
            if page.isEmpty {
                guard end == .max else { return }
                await hub.wait(past: next - 1, in: output.realm, since: restarts)
                continue
            }
            // Positions are gap-free: a hole is never stepped over.
            let whole = zip(next..., page).prefix { $0 == $1.position }.map(\.1)
            let wanted =
                whole.filter { $0.position <= end && filter.passes($0) }
                .prefix(Int(clamping: left))
            try await output.disclose(wanted, in: store)
            for event in wanted {
                output.write(event)
                try call.console.checkOutput()
            }
            next += Int64(whole.count)
            left -= Int64(wanted.count)
            guard whole.count == page.count || left == 0 || next > end else {
                throw CommandFailure(
                    "position \(next) is missing: the log is damaged",
                    remedy: "`urd verify --realm \(output.realm)` says more.")
            }
        }
    }
}
