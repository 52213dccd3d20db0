public import JSON
public import Values

/// One kind of event, said once: its name on the wire, who is told of it, what it means, its fields, and how it is made of
/// them.
///
/// What is written and read by it is inlined where the types of its values are known: they are looked up at each
/// event otherwise.
public struct EventForm<Kind: FormedEvent, each Value: Sendable>: EventReading {
    public let shape: EventShape
    public let meaning: Kind.Meaning
    public let read: @Sendable (JSONObject) -> Kind?
    @usableFromInline
    let fields: (repeat Field<each Value>)

    @inlinable
    public init(
        _ name: String, _ reach: EventReach, _ meaning: Kind.Meaning, _ sentence: String,
        _ field: repeat Field<each Value>, make: @escaping @Sendable (repeat each Value) -> Kind
    ) {
        var columns: [EventField] = []
        for field in repeat each field { columns += field.columns }
        shape = EventShape(name, reach, sentence, columns)
        self.meaning = meaning
        fields = (repeat each field)
        read = { recorded in
            do throws(UnreadField) {
                return make(repeat try (each field).read(recorded))
            } catch {
                return nil
            }
        }
    }

    /// The event's name in the log.
    public var name: String { shape.name }

    /// An event of this kind with these values.
    @inlinable
    public func callAsFunction(_ value: repeat each Value) -> WrittenEvent {
        var written = JSONObject()
        for (field, value) in repeat (each fields, each value) { field.write(value, &written) }
        return WrittenEvent(shape: shape, fields: written)
    }
}

/// The form of one kind of event, without the types of its values.
public protocol EventReading<Kind>: Sendable {
    associatedtype Kind: FormedEvent

    var shape: EventShape { get }
    var meaning: Kind.Meaning { get }

    /// Nil for a JSON shape that was never written.
    var read: @Sendable (JSONObject) -> Kind? { get }
}

/// The forms of an enum's events.
public struct EventForms<Kind: FormedEvent>: ExpressibleByArrayLiteral, Sendable {
    /// By the names of the events.
    public let meanings: [(name: String, meaning: Kind.Meaning)]
    @usableFromInline
    let shapes: [EventShape]
    @usableFromInline
    let forms: [(name: String, read: @Sendable (JSONObject) -> Kind?)]

    @inlinable
    public init(arrayLiteral forms: any EventReading<Kind>...) {
        meanings = forms.map { ($0.shape.name, $0.meaning) }
        shapes = forms.map(\.shape)
        self.forms = forms.map { ($0.shape.name, $0.read) }
    }

    @inlinable
    func read(_ name: String, _ recorded: JSONObject) -> Kind? {
        for form in forms where form.name == name { return form.read(recorded) }
        return nil
    }
}

/// An event as it goes into the log.
public struct WrittenEvent: Sendable {
    public let shape: EventShape
    public let fields: JSONObject

    @usableFromInline
    init(shape: EventShape, fields: JSONObject) {
        self.shape = shape
        self.fields = fields
    }
}

/// An event that is said by its forms.
public protocol FormedEvent<Meaning>: Event {
    /// What an event says to readers that follow many kinds of events.
    associatedtype Meaning: Sendable

    /// The forms, one for each case.
    static var forms: EventForms<Self> { get }
}

extension FormedEvent {
    public static var catalogue: [EventShape] { forms.shapes }
    public var name: String { written.shape.name }
    public var fields: JSONObject { written.fields }
    public var subject: UUID? { nil }

    @inlinable
    public init?(name: String, fields: JSONObject) {
        guard let event = Self.forms.read(name, fields) else { return nil }
        self = event
    }
}
