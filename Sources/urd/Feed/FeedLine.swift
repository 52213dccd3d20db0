import EventSourcing
import JSON

/// One line of a feed (`application/x-ndjson`).
enum FeedLine: Equatable {
    /// With the bytes as they came.
    case event(LogCursor, [UInt8])
    /// The place moves, though there is no event.
    case progress(LogCursor)
    /// What time it is in a replay; the place moves with it.
    case clock(LogCursor, JSONObject)
    /// A replay is at its end.
    case replayed(JSONObject)
    /// The feed ends, and why.
    case error(JSONObject)
    /// Nothing but that the server is there, or news of a kind that this program does not know.
    case nothing

    init(_ bytes: [UInt8]) throws(CommandFailure) {
        guard !bytes.isEmpty else {
            self = .nothing
            return
        }
        guard let members = (try? JSON.parse(bytes))?.object, let type = members["type"]?.string
        else { throw CommandFailure("what came is no line of a feed") }
        let cursor = members["cursor"]?.string.flatMap { LogCursor($0) }
        switch (type, cursor) {
        case ("urd.error", _): self = .error(members["data"]?.object ?? [:])
        case ("urd.replayed", _): self = .replayed(members["data"]?.object ?? [:])
        case ("urd.clock", let cursor?): self = .clock(cursor, members["data"]?.object ?? [:])
        case (_, let cursor?):
            self = type.hasPrefix("urd.") ? .progress(cursor) : .event(cursor, bytes)
        case (_, nil):
            guard type.hasPrefix("urd.") else {
                throw CommandFailure("what came is an event without a cursor")
            }
            self = .nothing
        }
    }
}

/// Puts lines together from the pieces that come. What has no end yet is kept back.
struct LineSplitter {
    private var rest: [UInt8] = []
    static let longest = 16 * 1024 * 1024

    mutating func add(_ piece: [UInt8]) throws(CommandFailure) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        while let end = piece[start...].firstIndex(of: 0x0A) {
            lines.append(rest + piece[start..<end])
            rest = []
            start = end + 1
        }
        rest += piece[start...]
        guard rest.count <= Self.longest else {
            throw CommandFailure("what came is no line of a feed: it has no end")
        }
        return lines
    }
}
