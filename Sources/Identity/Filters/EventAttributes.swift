public import EventSourcing

/// What filters may ask: of events the envelope, whom they are about, and the open fields of the catalogue;
/// of sign-ins the same and the columns that they have of their own. docs/analysts/filters.md has the table.
public enum EventAttributes {
    public static let ofEvents = FilterVocabulary(columns + about + common + stands + fields)

    /// Of events as clients of the realm are sent them: what they say themselves.
    public static let ofServices = FilterVocabulary(columns + common + fields)

    /// Of filters that are kept: in the place of addresses stand the pseudonyms of the log.
    public static let ofSubscriptions = FilterVocabulary(columns + about + common + fields)

    public static let ofSignIns = FilterVocabulary(
        columns + signIn + common + stands + fields)

    /// Of sign-ins that went well, as a policy is tried on them: what their events say themselves.
    public static let ofAttempts = FilterVocabulary(
        columns + attempt + common + stands + fields)

    private static let columns = [
        FilterAttribute("type", .text, choices: EventCatalogue.newest.map(\.name)),
        FilterAttribute("at", .time), FilterAttribute("position", .integer),
        FilterAttribute("stream", .id), FilterAttribute("actor", .text),
        FilterAttribute("outcome", .text),
    ]

    /// What the index knows, which is not always what the event says itself.
    private static let about = [
        FilterAttribute("account", .id, .index), FilterAttribute("session", .id, .index),
        FilterAttribute("browser", .id, .index),
        FilterAttribute("client", [.text, .id], .index, operations: naming + [.present]),
        FilterAttribute("source", .text, .index), FilterAttribute("device", .text, .index),
    ]

    private static let attempt = [
        FilterAttribute("account", .id), FilterAttribute("session", .id),
        FilterAttribute("client", .text), FilterAttribute("source", .text),
        FilterAttribute("device", .text),
    ]

    private static let signIn =
        attempt + [FilterAttribute("ended_at", .time), FilterAttribute("end_reason", .text)]

    /// Fields that many events have, by their own names.
    private static let common = [
        named("reason", .text), named("method", .text), named("amr", .text),
        named("app", [.text, .id]), named("channel", .text), named("country", .text),
        named("asn", .integer),
    ]

    private static func named(_ name: String, _ kinds: FilterAttribute.Kinds) -> FilterAttribute {
        FilterAttribute(name, kinds, .field(name))
    }

    private static let naming: [FilterOperation] = [.equal, .notEqual, .in]

    /// The network of an address, and the mailbox of a mail address: asked by their pseudonyms.
    private static let stands = [
        FilterAttribute("address", .text, .stand, operations: naming),
        FilterAttribute("mail", .text, .stand, operations: naming),
    ]

    /// A name that any event keeps to itself is no attribute, so that no filter finds out what it holds.
    private static let fields: [FilterAttribute] = {
        var kinds: [String: FilterAttribute.Kinds] = [:]
        var hidden: Set<String> = []
        for field in EventCatalogue.all.flatMap(\.fields) {
            switch field.visibility {
            case .open: kinds[field.name, default: []].formUnion(field.type.kinds)
            case .neverLeaves(.plain): hidden.insert(field.name)
            case .personal, .neverLeaves(.sealed): break
            }
        }
        return kinds.filter { !hidden.contains($0.key) }.sorted { $0.key < $1.key }
            .map { FilterAttribute("fields.\($0.key)", $0.value, .field($0.key)) }
    }()
}

extension FieldType {
    fileprivate var kinds: FilterAttribute.Kinds {
        switch self {
        case .text, .choice, .bytes: .text
        case .integer: .integer
        case .boolean: .boolean
        case .uuid: .id
        case .time: .time
        case .list(let element): element.kinds
        case .object: []
        }
    }
}
