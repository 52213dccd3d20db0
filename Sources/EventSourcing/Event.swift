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

    /// Its newest shape, and all its fields.
    var written: WrittenEvent { get }
}

extension Event {
    public func subject(in stream: UUID) -> UUID? { subject }
    public var tellsOrigin: Bool { true }

    public var written: WrittenEvent {
        guard let shape = Self.newestShape(name) else {
            preconditionFailure("An event's name must stand in its catalogue.")
        }
        return WrittenEvent(shape: shape, fields: fields)
    }
}
