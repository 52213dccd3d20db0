import EventSourcing
import Identity
import JSON
import Values

/// Shows the fields of an event type, and what it is in other vocabularies.
struct EventsDescribe: Subcommand {
    static let path = ["events", "describe"]
    static let summary = "Show the fields of an event type, and what it is elsewhere"
    static let examples = ["urd events describe session.ended"]
    static let details = """
        Also which security events of CAEP and RISC it amounts to, and which class and activity of OCSF \
        it is. No database is needed.
        """
    static let options = [Option.json]
    static let operands = [Operand("type", "The event type, such as session.ended")]

    func run(_ call: Invocation) async throws -> ExitCode {
        guard let type = call.arguments.words["type"]?.first else {
            throw UsageError("which type of event?")
        }
        guard let shape = EventCatalogue.newest.first(where: { $0.name == type }) else {
            throw UsageError(
                "there is no event type '\(type)'"
                    + NearestName.hint(for: type, among: EventCatalogue.newest.map(\.name)))
        }
        if call.arguments.has("json") {
            call.console.write(json(shape))
        } else {
            write(shape, to: call.console)
        }
        return .success
    }

    private func write(_ shape: EventShape, to console: Console) {
        console.write("\(shape.name), revision \(shape.revision): \(shape.sentence)")
        console.write("Told to: \(shape.reach.rawValue)")
        Self.write("Security events (CAEP, RISC)", signals(shape), to: console)
        Self.write("OCSF \(OCSFTable.version)", records(shape), to: console)
        guard !shape.fields.isEmpty else { return console.write("It has no fields.") }
        var table = Table("field", "type", "visibility", "what it is")
        for field in shape.fields {
            table.add(
                field.isRequired ? field.name : "\(field.name)?", field.type.shortDescription,
                field.visibility.shortDescription, field.sentence)
        }
        console.write("")
        console.write(table.render(width: Table.width))
    }

    private static func write(_ title: String, _ entries: [String], to console: Console) {
        guard !entries.isEmpty else { return console.write("\(title): none") }
        console.write("\(title):")
        for entry in entries {
            let lines = HelpText.wrap(entry, width: Table.width - 4)
            console.write("  " + lines.joined(separator: "\n    "))
        }
    }

    private func signals(_ shape: EventShape) -> [String] {
        SignalTable.rules(for: shape.name).map(\.description)
    }

    private func records(_ shape: EventShape) -> [String] {
        OCSFTable.rules(for: shape.name).map(\.description)
    }

    private func json(_ shape: EventShape) -> JSON {
        [
            "type": .string(shape.name), "revision": .integer(Int64(shape.revision)),
            "reach": .string(shape.reach.rawValue), "sentence": .string(shape.sentence),
            "fields": .array(
                shape.fields.map {
                    [
                        "name": .string($0.name), "type": .string($0.type.description),
                        "required": .bool($0.isRequired),
                        "visibility": .string($0.visibility.description),
                        "sentence": .string($0.sentence),
                    ]
                }),
            "signals": .array(signals(shape).map { .string($0) }),
            "ocsf": .array(records(shape).map { .string($0) }),
        ]
    }
}

extension FieldType {
    /// A closed set is named as such: its values are in the schema, and in `--json`.
    fileprivate var shortDescription: String {
        switch self {
        case .choice(let values): "one of \(values.count)"
        case .list(.choice(let values)): "[one of \(values.count)]"
        case .text, .integer, .boolean, .uuid, .time, .bytes, .list, .object: description
        }
    }
}

extension EventField.Visibility {
    /// The visibility of a field in a word, without its readers and its sealing.
    fileprivate var shortDescription: String {
        switch self {
        case .open: "open"
        case .personal: "personal"
        case .neverLeaves: "never-leaves"
        }
    }
}
