public import JSON
public import Values

/// One kind of event, said once: its name on the wire, who is told of it, its fields, and how it is made of them.
public struct EventForm<Kind: Event, each Value: Sendable>: EventReading {
    public let shape: EventShape
    private let fields: (repeat Field<each Value>)
    private let make: @Sendable (repeat each Value) -> Kind

    public init(
        _ name: String, _ reach: EventReach, _ sentence: String,
        _ field: repeat Field<each Value>, make: @escaping @Sendable (repeat each Value) -> Kind
    ) {
        var columns: [EventField] = []
        for field in repeat each field { columns += field.columns }
        shape = EventShape(name, reach, sentence, columns)
        fields = (repeat each field)
        self.make = make
    }

    /// An event of this kind with these values.
    public func callAsFunction(_ value: repeat each Value) -> WrittenEvent {
        var written = JSONObject()
        for (field, value) in repeat (each fields, each value) { field.write(value, &written) }
        return WrittenEvent(shape: shape, fields: written)
    }

    public func read(_ recorded: JSONObject) -> Kind? {
        do throws(UnreadField) {
            return make(repeat try (each fields).read(recorded))
        } catch {
            return nil
        }
    }
}

/// The form of one kind of event, without the types of its values.
public protocol EventReading<Kind>: Sendable {
    associatedtype Kind

    var shape: EventShape { get }

    /// Nil for what was never written.
    func read(_ recorded: JSONObject) -> Kind?
}

/// An event as it goes into the log.
public struct WrittenEvent: Sendable {
    public let shape: EventShape
    public let fields: JSONObject
}

/// An event that is said by its forms.
public protocol FormedEvent: Event {
    /// One for each case.
    static var forms: [any EventReading<Self>] { get }
}

extension FormedEvent {
    public static var catalogue: [EventShape] { forms.map(\.shape) }
    public var name: String { written.shape.name }
    public var fields: JSONObject { written.fields }
    public var subject: UUID? { nil }

    public init?(name: String, fields: JSONObject) {
        guard let event = Self.forms.first(where: { $0.shape.name == name })?.read(fields) else {
            return nil
        }
        self = event
    }
}
