public import JSON

/// Who is told of a kind of event without asking for it by name.
public enum EventReach: String, Sendable {
    /// The services of a realm, and those who audit it.
    case services
    /// Those who audit a realm.
    case audit
    /// No reader: the event is an implementation detail.
    case `internal`
}

/// One revision of one event type, as the golden list shows it.
public struct EventShape: Sendable {
    public let name: String
    public let revision: Int
    public let reach: EventReach
    /// The description of the event in a sentence.
    public let sentence: String
    /// Ordered by their names, as an event's fields are.
    public let fields: [EventField]
    /// Turns this revision's fields into the next revision's. Nil for the newest revision.
    public let upcast: (@Sendable (JSONObject) -> JSONObject)?
    /// What an append looks at of the fields.
    private let stored: [(name: String, holding: Holding)]

    private enum Holding {
        case open, personal, request
    }

    public init(
        _ name: String, revision: Int = 1, _ reach: EventReach, _ sentence: String,
        _ fields: [EventField]..., upcast: (@Sendable (JSONObject) -> JSONObject)? = nil
    ) {
        self.name = name
        self.revision = revision
        self.reach = reach
        self.sentence = sentence
        self.fields = fields.flatMap { $0 }.sorted { $0.name < $1.name }
        stored = self.fields.map {
            ($0.name, !$0.isSealed ? .open : $0.isOfRequest ? .request : .personal)
        }
        precondition(
            zip(stored, stored.dropFirst()).allSatisfy { $0.name < $1.name },
            "A field stands once in its shape.")
        self.upcast = upcast
    }

    /// An event's fields, apart: what stands readable in the log, what is sealed, and what is sealed of the
    /// request.
    func split(
        _ fields: JSONObject
    ) -> (open: JSONObject, personal: JSONObject, request: JSONObject) {
        var open = fields
        var personal: JSONObject = [:]
        var request: JSONObject = [:]
        var next = 0
        for (name, value) in fields {
            while next < stored.count, stored[next].name < name { next += 1 }
            guard next < stored.count, stored[next].name == name else {
                preconditionFailure("An event's field must stand in its shape.")
            }
            switch stored[next].holding {
            case .open: continue
            case .personal: personal[name] = value
            case .request: request[name] = value
            }
            open[name] = nil
        }
        return (open, personal, request)
    }

    /// The line of the golden list: a change to it is a decision that someone sees.
    public var goldenLine: String {
        let listed = fields.map {
            "\($0.name):\($0.type)\($0.isRequired ? "" : "?"):\($0.visibility)"
        }
        return ([name, String(revision), reach.rawValue] + listed).joined(separator: " ")
    }
}
