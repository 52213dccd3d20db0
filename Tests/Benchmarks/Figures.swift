import Synchronization

/// All that is measured, in order.
enum Figures {
    struct Entry: Sendable {
        let name: String
        let summary: String
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
                name: "long-log", summary: "the same append on a long log",
                measure: AppendFigures.longLog),
            Entry(
                name: "rebuild", summary: "an inline read model built anew from its events",
                measure: ReplayFigures.rebuild),
            Entry(
                name: "verify", summary: "urd verify over a whole log",
                measure: ReplayFigures.verify),
            Entry(
                name: "follow", summary: "from a command's answer to its events at a follower",
                measure: FollowFigure.measure),
            Entry(
                name: "serve", summary: "urd serve: memory while idle, and from start to ready",
                measure: ServeFigures.measure),
            Entry(
                name: "http", summary: "plain answers over HTTP, 64 connections",
                measure: HTTPFigure.measure),
        ] + SignInFigures.all + LoginFigures.all + FlagshipFigures.all

    static func measure(_ options: Options) async throws -> [Figure] {
        let chosen = all.filter { options.only.isEmpty || options.only.contains($0.name) }
        let workshop = try Workshop(options)
        defer { workshop.progress.end() }
        var figures: [Figure] = []
        for entry in chosen {
            workshop.progress.begin(entry.name, rounds: 0)
            figures += try await entry.measure(workshop)
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

    func size(short: Int, full: Int) -> Int { options.isFull ? full : short }
}
