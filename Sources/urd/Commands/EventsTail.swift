import EventSourcing
import EventStore
import Identity
import JSON
import Values

/// Reads the log forward, and goes on with what is appended.
struct EventsTail: Subcommand {
    static let path = ["events", "tail"]
    static let summary = "Read a realm's events in order, and follow as they happen"
    static let options =
        EventOutput.options + [
            Option.flag("follow", "Go on with what is appended"),
            Option.value("from", "position", "The first position; the last 10 events otherwise"),
            Option.values("type", "type", "Only events of this type, such as client.registered"),
            Option.value("limit", "number", "Stop after so many events"),
        ]
    static let settings = Store.settings

    func run(_ call: Invocation) async throws -> ExitCode {
        let output = try EventOutput(call)
        let types = Set(call.arguments.values["type"] ?? [])
        let known = EventCatalogue.all.map(\.name)
        for type in types where !known.contains(type) {
            throw UsageError(
                "--type: there is no '\(type)'" + NearestName.hint(for: type, among: known))
        }
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
                try call.console.checkOutput()
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
