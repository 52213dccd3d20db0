internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// How a feed is written: each frame is one array, and nothing is ever written of a part of one.
struct FeedForm: Sendable, Equatable {
    enum Framing: Sendable {
        /// Server-Sent Events (WHATWG HTML, section 9.2).
        case serverSentEvents
        /// A JSON text on each line.
        case lines

        var contentType: String {
            switch self {
            case .serverSentEvents: "text/event-stream"
            case .lines: "application/x-ndjson"
            }
        }
    }

    let framing: Framing
    /// Without the names that `onmessage` of a browser does not hear of.
    var isUnnamed = false

    /// Whether personal fields of events that are opened are shown.
    var showsPersonal = false

    /// Where events are CloudEvents: what their `source` is.
    var cloudSource: String?

    /// Tells the forms apart in which events are kept.
    var key: String {
        let name =
            switch framing {
            case .serverSentEvents: isUnnamed ? "unnamed" : "named"
            case .lines: "lines"
            }
        return cloudSource.map { "\(name) \($0)" } ?? name
    }

    static let retry = 2000

    /// What a feed begins with.
    func opening(at cursor: LogCursor, head: Int64) -> [UInt8] {
        let start = progress(at: cursor, head: head)
        switch framing {
        case .serverSentEvents:
            // In one frame: a frame of its own without data is an event to some clients.
            return Array(": connected\n\nretry: \(Self.retry)\n".utf8) + start
        case .lines: return start
        }
    }

    var heartbeat: [UInt8] {
        switch framing {
        case .serverSentEvents: Array(": heartbeat\n\n".utf8)
        case .lines: [0x0A]
        }
    }

    func event(_ event: Recorded, at cursor: LogCursor) -> [UInt8] {
        self.event(event, at: cursor, record: nil)
    }

    /// - Parameter record: what is hashed into the event's leaf, where the reader asked for it.
    func event(_ event: Recorded, at cursor: LogCursor, record: [UInt8]?) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(1024)
        if framing == .serverSentEvents {
            out.append(line: "id", cursor.description)
            if !isUnnamed { out.append(line: "event", event.name) }
            out.append(contentsOf: "data: ".utf8)
        }
        if let cloudSource {
            JSON.object(cloud(event, cursor, cloudSource, record)).write(into: &out)
        } else {
            // Addresses in it are of the server that the feed came from.
            envelope(event, cursor, issuer: "").write(into: &out, record: record)
        }
        out.append(0x0A)
        if framing == .serverSentEvents { out.append(0x0A) }
        return out
    }

    private func cloud(
        _ event: Recorded, _ cursor: LogCursor, _ source: String, _ record: [UInt8]?
    ) -> JSONObject {
        var members = CloudEvent(envelope(event, cursor, issuer: source)).json.object ?? [:]
        // Of frames the cursor is the id; a line has nothing else to say it with.
        if framing == .lines { members["urdcursor"] = .string(cursor.description) }
        members["record"] = record.map { .string(String(decoding: $0, as: UTF8.self)) }
        return members
    }

    private func envelope(_ event: Recorded, _ cursor: LogCursor, issuer: String) -> EventEnvelope {
        EventEnvelope(event, epoch: cursor.epoch, issuer: issuer, showsPersonal: showsPersonal)
    }

    /// Moves the reader's place where there is no event to do so.
    func progress(at cursor: LogCursor, head: Int64) -> [UInt8] {
        told(
            "urd.progress", at: cursor,
            ["position": .integer(cursor.position), "head": .integer(max(head, cursor.position))])
    }

    /// The last frame of a feed that cannot go on.
    func error(_ problem: Problem) -> [UInt8] {
        var members = problem.members
        members["type"] = .string(problem.kind.type)
        members["title"] = .string(problem.kind.title)
        members["status"] = .integer(Int64(problem.kind.status.code))
        if !problem.detail.isEmpty { members["detail"] = .string(problem.detail) }
        return told("urd.error", at: nil, members)
    }

    /// What is no event of the log.
    func told(_ name: String, at cursor: LogCursor?, _ members: JSONObject) -> [UInt8] {
        var out: [UInt8] = []
        switch framing {
        case .serverSentEvents:
            if let cursor { out.append(line: "id", cursor.description) }
            out.append(line: "event", name)
            out.append(contentsOf: "data: ".utf8)
            JSON.object(members).write(into: &out)
            out.append(contentsOf: [0x0A, 0x0A])
        case .lines:
            var line: JSONObject = ["type": .string(name), "data": .object(members)]
            if let cursor { line["cursor"] = .string(cursor.description) }
            JSON.object(line).write(into: &out)
            out.append(0x0A)
        }
        return out
    }
}

extension [UInt8] {
    fileprivate mutating func append(line name: StaticString, _ text: String) {
        name.withUTF8Buffer { append(contentsOf: $0) }
        append(contentsOf: ": ".utf8)
        append(contentsOf: text.utf8)
        append(0x0A)
    }
}

extension FeedForm.Framing {
    /// What the client accepts (RFC 9110 section 12.5.1); nil where it is neither. Server-Sent Events
    /// where both are as welcome.
    init?(accepting lines: [String]) {
        guard !lines.isEmpty else {
            self = .serverSentEvents
            return
        }
        var best: (framing: Self, weight: Int)?
        for framing in [Self.serverSentEvents, .lines] {
            let weight = Self.weight(of: framing.contentType, in: lines.joined(separator: ","))
            if weight > best?.weight ?? 0 { best = (framing, weight) }
        }
        guard let best else { return nil }
        self = best.framing
    }

    /// In thousandths: what names it most closely counts.
    private static func weight(of type: String, in accepted: String) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        var found: [Int: Int] = [:]
        for range in accepted.split(separator: ",") {
            let parts = range.split(separator: ";").map {
                String($0.filter { $0 != " " && $0 != "\t" }).lowercased()
            }
            guard let name = parts.first else { continue }
            let closeness = name == type ? 2 : name == family ? 1 : name == "*/*" ? 0 : nil
            guard let closeness else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { $0.dropFirst(2) }
            found[closeness] = quality.map(thousandths) ?? 1000
        }
        return found[2] ?? found[1] ?? found[0] ?? 0
    }

    private static func thousandths(_ quality: Substring) -> Int {
        let digits = quality.filter { $0 != "." } + "000"
        return min(1000, Int(digits.prefix(4)) ?? 0)
    }
}
