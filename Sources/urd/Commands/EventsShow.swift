import EventSourcing
import EventStore
import JSON
import Values

/// Shows one event whole.
struct EventsShow: Subcommand {
    static let path = ["events", "show"]
    static let summary = "Show one event"
    static let examples = ["urd events show 1"]
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
        _ = try await output.head(in: store)
        guard
            let event = try await output.read(from: position, limit: 1, in: store).first,
            event.position == position
        else { throw CommandFailure("the realm '\(output.realm)' has no position \(position)") }
        try await output.disclose([event], in: store)
        call.console.write(
            Table(of: output.json(event)), json: output.json(event),
            asJSON: call.arguments.has("json"))
        return .success
    }
}
