import EventSourcing
import Identity
import JSON
import Values

/// Lists the event types of the catalogue.
struct EventsTypes: Subcommand {
    static let path = ["events", "types"]
    static let summary = "List the types of events, and who is told of them"
    static let examples = ["urd events types", "urd events types session --json"]
    static let details = """
        `services` are told of it without asking, and so is everyone who audits the realm; `audit` is \
        for those who audit it; `internal` is how other things are done, and told to those who ask for \
        the type by name. No database is needed.
        """
    static let options = [Option.json]
    static let operands = [
        Operand("prefix", "Only types that begin with it, such as session", count: .optional)
    ]

    func run(_ call: Invocation) async throws -> ExitCode {
        let prefix = call.arguments.words["prefix"]?.first ?? ""
        let shapes = EventCatalogue.newest.filter { $0.name.hasPrefix(prefix) }
        guard !shapes.isEmpty else {
            let heads = Set(EventCatalogue.all.map { String($0.name.prefix { $0 != "." }) })
            throw UsageError(
                "no type begins with '\(prefix)'"
                    + NearestName.hint(
                        for: prefix, among: heads.sorted() + EventCatalogue.all.map(\.name)))
        }
        var table = Table("type", "told to", "what happened")
        for shape in shapes { table.add(shape.name, shape.reach.rawValue, shape.sentence) }
        call.console.write(
            table,
            json: .array(
                shapes.map {
                    [
                        "type": .string($0.name), "revision": .integer(Int64($0.revision)),
                        "reach": .string($0.reach.rawValue), "sentence": .string($0.sentence),
                    ]
                }), asJSON: call.arguments.has("json"))
        return .success
    }
}
