import Synchronization

/// All that is measured, in order.
enum Figures {
    struct Entry: Sendable {
        let name: String
        let summary: String
        /// Left out of the short form, unless it is named.
        var isLong = false
        let measure: @Sendable (Workshop) async throws -> [Figure]
    }

    static let all: [Entry] =
        [
            Entry(
                name: "append",
                summary:
                    "64 callers, 2 events a command, version checks, claims, inline read models",
                measure: AppendFigures.append),
            Entry(
                name: "caller",
                summary: "one caller, one event a command: half are answered within",
                measure: AppendFigures.caller),
            Entry(
                name: "long-log", summary: "the same append on a long log", isLong: true,
                measure: AppendFigures.longLog),
            Entry(
                name: "rebuild", summary: "an inline read model built anew from its events",
                measure: ReplayFigures.rebuild),
            Entry(
                name: "verify", summary: "urd verify over a whole log",
                measure: ReplayFigures.verify),
            Entry(
                name: "what-if", summary: "a policy tried on a whole log of sign-ins",
                measure: WhatIfFigures.measure),
            Entry(
                name: "follow", summary: "from a command's answer to its events at a follower",
                measure: FollowFigure.measure),
            Entry(
                name: "feed-live",
                summary: "from a command's answer to its events at 1, 100 and 1,000 followers",
                isLong: true,
                measure: FeedFigures.live),
            Entry(
                name: "feed-idle",
                summary: "append with 1,000 followers that wait for nothing of it", isLong: true,
                measure: FeedFigures.idle),
            Entry(
                name: "feed-catch-up", summary: "a whole log to a follower from its start",
                isLong: true,
                measure: FeedFigures.catchUp),
            Entry(
                name: "feed-fan-out", summary: "the newest events to 1, 100 and 1,000 sockets",
                isLong: true,
                measure: FeedSocketFigures.fanOut),
            Entry(
                name: "feed-latency",
                summary: "from a command's answer to its event at 1, 100 and 1,000 sockets",
                isLong: true,
                measure: FeedSocketFigures.latency),
            Entry(
                name: "feed-memory", summary: "memory of each of 1,000 silent feeds", isLong: true,
                measure: FeedSocketFigures.memory),
            Entry(
                name: "feed-catch-up-socket", summary: "a whole log over one socket", isLong: true,
                measure: FeedSocketFigures.catchUp),
            Entry(
                name: "signals-push", summary: "security event tokens, signed by RS256 and ES256",
                isLong: true,
                measure: SignalFigures.tokens),
            Entry(
                name: "serve", summary: "urd serve: memory while idle, and from start to ready",
                measure: ServeFigures.measure),
            Entry(
                name: "http", summary: "plain answers over HTTP, 64 connections", isLong: true,
                measure: HTTPFigure.measure),
        ] + WebhookFigures.all + SignInFigures.all + LoginFigures.all + VerifyFigures.all
        + FederationFigures.all
        + FlagshipFigures.all + AnalystFigures.all

    /// A figure that cannot be measured is a row that says why; the others go on.
    /// - Parameter tell: hears of each figure as soon as there is one.
    static func measure(_ options: Options, _ tell: (Figure) -> Void) async throws -> [Figure] {
        let chosen = all.filter { options.isChosen($0) }
        let workshop = try Workshop(options)
        defer { workshop.close() }
        var figures: [Figure] = []
        for entry in chosen {
            workshop.progress.begin(entry.name, rounds: 0)
            var measured: [Figure]
            do {
                measured = try await entry.measure(workshop)
            } catch {
                let why = "Not measured: \(error)"
                measured = [Figure(entry.name, entry.summary, nil, "", bar: .none, note: why)]
            }
            workshop.progress.end()
            for figure in measured { tell(figure) }
            figures += measured
        }
        return figures
    }
}

/// What the figures share.
final class Workshop: Sendable {
    let options: Options
    let bed: Bed
    let progress = Progress()

    /// What the log takes under full load, once that is known.
    let fullLoad = Mutex<Double?>(nil)

    init(_ options: Options) throws {
        self.options = options
        bed = try Bed()
    }

    /// In the short form all figures of signing in share one server.
    private let shared = Mutex<DevelopmentServer?>(nil)

    func size(short: Int, full: Int) -> Int { options.isFull ? full : short }

    func sharedServer(_ open: () async throws -> DevelopmentServer) async throws
        -> DevelopmentServer
    {
        if let server = shared.withLock({ $0 }) { return server }
        let server = try await open()
        shared.withLock { $0 = server }
        return server
    }

    func close() {
        progress.end()
        shared.withLock {
            $0?.end()
            $0 = nil
        }
    }
}
