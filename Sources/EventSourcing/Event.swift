public import JSON
public import Values

/// Something that happened in one kind of stream. One enum per kind of stream conforms.
public protocol Event: Sendable, Equatable {
    /// Every shape that this kind of event has ever had, old revisions included.
    static var catalogue: [EventShape] { get }

    /// The wire name, such as `client.registered`: never a Swift name, it outlives them.
    var name: String { get }

    /// Whose key seals the personal fields. Nil where the event has none.
    var subject: UUID? { get }

    /// The same, where it is the stream itself that the personal fields belong to.
    func subject(in stream: UUID) -> UUID?

    /// Whether the event holds the origin of its request. An event without a subject that is about
    /// a person must not: what the shared key seals outlives an erased person.
    var tellsOrigin: Bool { get }

    /// All fields, personal ones included; the shape says which of them are sealed.
    var fields: JSONObject { get }

    /// Reads the newest revision. Personal fields may be missing: their subject may be erased.
    /// Nil only for a name or a field that was never written: a defect, not an input error.
    init?(name: String, fields: JSONObject)
}

extension Event {
    public func subject(in stream: UUID) -> UUID? { subject }
    public var tellsOrigin: Bool { true }
}

/// One revision of one event type, as the golden list shows it.
public struct EventShape: Sendable {
    public enum Visibility: String, Sendable {
        /// Stands readable in the log.
        case open
        /// Stands sealed under its subject's key.
        case personal
    }

    public let name: String
    public let revision: Int
    /// Ordered by their names, as an event's fields are.
    public let fields: [(name: String, visibility: Visibility)]
    /// Turns this revision's fields into the next revision's. Nil for the newest.
    public let upcast: (@Sendable (JSONObject) -> JSONObject)?

    public init(
        _ name: String, revision: Int = 1, open: [String] = [], personal: [String] = [],
        upcast: (@Sendable (JSONObject) -> JSONObject)? = nil
    ) {
        self.name = name
        self.revision = revision
        fields = (open.map { ($0, .open) } + personal.map { ($0, .personal) })
            .sorted { $0.name < $1.name }
        precondition(
            zip(fields, fields.dropFirst()).allSatisfy { $0.name < $1.name },
            "A field is open or personal, and stands once.")
        self.upcast = upcast
    }

    /// An event's fields, apart: what stands readable in the log, and what is sealed.
    func split(_ fields: JSONObject) -> (open: JSONObject, personal: JSONObject) {
        var open = fields
        var personal: JSONObject = [:]
        var rest = self.fields[...]
        for (name, value) in fields {
            rest = rest.drop { $0.name < name }
            guard let shown = rest.first, shown.name == name else {
                preconditionFailure("An event's field must stand in its shape.")
            }
            guard case .personal = shown.visibility else { continue }
            open[name] = nil
            personal[name] = value
        }
        return (open, personal)
    }

    /// The line of the golden list: a change to it is a decision that someone sees.
    public var goldenLine: String {
        let listed = fields.map { "\($0.name):\($0.visibility.rawValue)" }
        return ([name, String(revision)] + listed).joined(separator: " ")
    }
}
