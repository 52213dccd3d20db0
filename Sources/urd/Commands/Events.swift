import EventSourcing
import EventStore
import JSON
import Values

/// Reads the log forward, and goes on with what is appended.
struct EventsTail: Subcommand {
    static let path = ["events", "tail"]
    static let summary = "Read a realm's events in order, and follow as they happen"
    static let options = EventOutput.options + [
        Option.flag("follow", "Go on with what is appended"),
        Option.value("from", "position", "The first position; the last 10 events otherwise"),
        Option.values("type", "type", "Only events of this type, such as client.registered"),
        Option.value("limit", "number", "Stop after so many events"),
    ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let output = try EventOutput(call)
        let types = Set(call.arguments.values["type"] ?? [])
        let isFollowing = call.arguments.has("follow")
        var left = try call.arguments.position("limit") ?? .max
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        let head = try await store.log.head(of: output.realm).position
        var next = try call.arguments.position("from") ?? max(1, head - 9)
        let polling = Task { try await store.log.pollHeads(every: .milliseconds(50)) }
        defer { polling.cancel() }
        while left > 0, isFollowing || next <= head {
            let page = try await store.log.events(from: next, limit: 500, in: output.realm)
            for event in page {
                // Positions are gap-free: a hole is never stepped over.
                guard event.position == next else {
                    throw CommandFailure(
                        "position \(next) is missing: the log is damaged",
                        remedy: "`urd verify --realm \(output.realm)` says more.")
                }
                next += 1
                guard left > 0, isFollowing || event.position <= head else { break }
                guard types.isEmpty || types.contains(event.name) else { continue }
                output.write(event)
                left -= 1
            }
            if page.isEmpty {
                guard isFollowing else { break }
                await store.log.hub.wait(past: next - 1, in: output.realm)
            }
        }
        return .success
    }
}

/// Shows one event whole.
struct EventsShow: Subcommand {
    static let path = ["events", "show"]
    static let summary = "Show one event"
    static let options = EventOutput.options
    static let operands = [Operand("position", "Its position in the realm's log")]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let output = try EventOutput(call)
        guard let text = call.arguments.words["position"]?.first, let position = Int64(text),
            position > 0
        else { throw UsageError("the position must be a number from 1 on") }
        let store = try Store(call.settings())
        defer { store.close() }
        try await store.checkSchema()
        guard
            let event = try await store.log.events(from: position, limit: 1, in: output.realm).first,
            event.position == position
        else { throw CommandFailure("the realm '\(output.realm)' has no position \(position)") }
        call.console.write(
            Table(of: output.json(event)), json: output.json(event),
            asJSON: call.arguments.has("json"))
        return .success
    }
}

/// How events are shown: what is personal only to whoever asks for it.
struct EventOutput: Sendable {
    static let options = [
        Option.value("realm", "realm", "The realm; URD_REALM otherwise"),
        Option.flag("open", "Show personal fields, too"), Option.json,
    ]

    let realm: RealmID
    private let isOpen: Bool
    private let asJSON: Bool
    private let console: Console

    init(_ call: Invocation) throws(UsageError) {
        guard let name = call.arguments.value("realm") ?? call.environment["URD_REALM"] else {
            throw UsageError("--realm is missing: whose events?")
        }
        guard let realm = RealmID(name) else { throw UsageError("'\(name)' is no realm") }
        self.realm = realm
        isOpen = call.arguments.has("open")
        asJSON = call.arguments.has("json")
        console = call.console
    }

    func write(_ event: Recorded) {
        if asJSON { return console.writeLine(json(event)) }
        let open = String(decoding: JSON.object(event.open).canonical(), as: UTF8.self)
        console.write(
            "\(event.position)\t\(event.at)\t\(event.name)\t\(event.stream)@\(event.version)\t"
                + "\(event.actor)\t\(open)\(personalText(event))")
    }

    func json(_ event: Recorded) -> JSON {
        var members: [String: JSON] = [
            "position": .integer(event.position), "at": .string(event.at.description),
            "type": .string(event.name), "revision": .integer(Int64(event.revision)),
            "stream": .string(event.stream.description), "version": .integer(Int64(event.version)),
            "command": .string(event.command.description), "actor": .string(event.actor),
            "realm": .string(event.realm.name), "data": .object(event.open),
        ]
        members["subject"] = event.subject.map { .string($0.description) }
        members["client"] = event.client.map { .string($0) }
        members["correlation"] = event.correlation.map { .string($0) }
        switch event.personal {
        case .none: break
        case .opened(let fields): members["personal"] = isOpen ? .object(fields) : "sealed"
        case .sealed: members["personal"] = "sealed"
        case .erased: members["personal"] = "erased"
        }
        return .object(members)
    }

    private func personalText(_ event: Recorded) -> String {
        guard isOpen, case .opened(let fields) = event.personal else { return "" }
        return "\t" + String(decoding: JSON.object(fields).canonical(), as: UTF8.self)
    }
}
