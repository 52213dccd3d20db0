/// One field of an event, as the catalogue lists it.
public struct EventField: Sendable {
    /// Who may see a field, and whether the log holds it sealed under its subject's key.
    public enum Visibility: Sendable, Equatable {
        /// Stands readable in the log, for all who may read events.
        case open
        /// Stands sealed in the log: opening it for an administrator is a disclosure.
        case personal(Audience)
        /// A secret, or what a secret could be guessed from: no API, list, download or feed shows it.
        case neverLeaves(Storage)
    }

    /// To whom a personal field is shown.
    public enum Audience: String, Sendable {
        /// To the person, in the download of their own data, and to administrators with the right.
        case person
        /// To administrators with the right, and not to the person.
        case administrators
    }

    public enum Storage: Sendable {
        case plain
        case sealed
    }

    public let name: String
    public let type: FieldType
    /// The description of the field in a sentence.
    public let sentence: String
    public let visibility: Visibility
    /// Whether each event of the shape has it. Where its subject is erased, a sealed one is missing
    /// all the same.
    public private(set) var isRequired = true
    /// Whether a sealed field says something of the request, and is held where the request's address is: sealed
    /// under a shared key, too, where the event is about no person.
    public private(set) var isOfRequest = false

    public init(
        _ name: String, _ type: FieldType, _ sentence: String, _ visibility: Visibility = .open
    ) {
        self.name = name
        self.type = type
        self.sentence = sentence
        self.visibility = visibility
    }

    public var isSealed: Bool {
        switch visibility {
        case .open, .neverLeaves(.plain): false
        case .personal, .neverLeaves(.sealed): true
        }
    }

    /// The same field, which not every event of the shape has.
    public var optional: EventField {
        var field = self
        field.isRequired = false
        return field
    }

    /// The same field, which says something of the request.
    public var ofRequest: EventField {
        var field = self
        field.isOfRequest = true
        return field
    }

    /// What every event may hold of its request beside its own fields. These fields are always sealed.
    public static let origin: [EventField] = [
        .text("$address", "Address that the request came from.", .personal(.person)).optional,
        .text("$userAgent", "User agent of the request.", .personal(.person)).optional,
    ]
}

extension EventField {
    public static func text(
        _ name: String, _ sentence: String, _ visibility: Visibility = .open
    ) -> EventField {
        EventField(name, .text, sentence, visibility)
    }

    public static func texts(
        _ name: String, _ sentence: String, _ visibility: Visibility = .open
    ) -> EventField {
        EventField(name, .list(.text), sentence, visibility)
    }

    /// A field whose value is a member of an enumeration.
    public static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _: Choice.Type, _ sentence: String
    ) -> EventField {
        EventField(name, .choice(Choice.allCases.map(\.rawValue)), sentence)
    }

    public static func integer(_ name: String, _ sentence: String) -> EventField {
        EventField(name, .integer, sentence)
    }

    public static func flag(_ name: String, _ sentence: String) -> EventField {
        EventField(name, .boolean, sentence)
    }

    public static func uuid(_ name: String, _ sentence: String) -> EventField {
        EventField(name, .uuid, sentence)
    }

    public static func time(_ name: String, _ sentence: String) -> EventField {
        EventField(name, .time, sentence)
    }

    public static func object(
        _ name: String, _ sentence: String, _ visibility: Visibility = .open
    ) -> EventField {
        EventField(name, .object, sentence, visibility)
    }
}

extension EventField.Visibility: CustomStringConvertible {
    public var description: String {
        switch self {
        case .open: "open"
        case .personal(let audience): "personal/\(audience.rawValue)"
        case .neverLeaves(.plain): "never-leaves"
        case .neverLeaves(.sealed): "never-leaves/sealed"
        }
    }
}
