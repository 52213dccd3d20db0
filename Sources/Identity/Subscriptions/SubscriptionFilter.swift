public import EventSourcing
internal import JSON
public import Values

/// Which events a subscription is sent, as its terms say it.
public struct SubscriptionFilter: Sendable, Equatable {
    /// Wire names, or what they begin with: `account.*`. Empty for all events of the reach.
    public var types: [String]
    /// Event types or groups of types that are excluded.
    public var excluded: [String]
    /// Only events of these streams. Empty for all streams.
    public var streams: [UUID]
    /// The kinds of events that come without being named.
    public var reach: EventReach
    /// What must hold as well (docs/analysts/filters.md), with pseudonyms in the place of addresses.
    public var expression: String?

    public static let typeLimit = 100
    public static let streamLimit = 50

    public init(
        types: [String] = [], excluded: [String] = [], streams: [UUID] = [],
        reach: EventReach = .services, expression: String? = nil
    ) {
        self.types = types
        self.excluded = excluded
        self.streams = streams
        self.reach = reach
        self.expression = expression
    }

    /// What is named exactly comes always; a whole group comes as far as the reach allows.
    public var events: EventFilter {
        var filter = EventFilter()
        filter.types = EventFilter.Types(named: types)
        filter.excluded = EventFilter.Types(named: excluded)
        filter.unasked = reach.unasked
        filter.streams = Set(streams)
        if expression != nil {
            let asked = readExpression ?? .never
            filter.expression = asked.asksIndex ? nil : asked
            filter.unasked.subtract(asked.wanted(of: "type"))
        }
        return filter
    }

    /// What must hold as well by what the index says, which knows whom events are about.
    public var aboutWhom: FilterExpression? {
        readExpression.flatMap { $0.asksIndex ? $0 : nil }
    }

    /// Nil where there is none, and where this version of Urd cannot read it.
    private var readExpression: FilterExpression? {
        expression.flatMap { try? FilterParser.expression(of: $0, EventAttributes.ofSubscriptions) }
    }

    /// A later version may have written what this one does not know.
    var isReadable: Bool { expression == nil || readExpression != nil }

    func check() throws(FieldFault) {
        try Self.check(types, of: "types")
        try Self.check(excluded, of: "not_types")
        guard streams.count <= Self.streamLimit else {
            throw FieldFault("streams", .tooMany(limit: Self.streamLimit))
        }
        guard Set(streams).count == streams.count else { throw FieldFault("streams", .duplicate) }
        guard isReadable else { throw FieldFault("filter", .malformed) }
    }

    private static func check(_ types: [String], of field: String) throws(FieldFault) {
        guard types.count <= typeLimit else {
            throw FieldFault(field, .tooMany(limit: typeLimit))
        }
        guard Set(types).count == types.count else { throw FieldFault(field, .duplicate) }
        for (index, type) in types.enumerated() {
            guard EventFilter.Types.isKnown(type) else {
                throw FieldFault(field, .unsupported, at: index)
            }
        }
    }
}

extension Field<SubscriptionFilter> {
    static let filter = record(
        .texts("types", "Types of events that are sent, or groups of them; all if it is empty."),
        .unless(
            [], .texts("not_types", "Types of events that are not sent, or groups of them.")),
        .streams, .choice("to", "How far events are sent that no type names exactly."),
        .optional(
            .text("filter", "Which of these are sent, as a filter says; all if it is missing.")),
        make: {
            SubscriptionFilter(
                types: $0, excluded: $1, streams: $2, reach: $3, expression: $4)
        }, take: { ($0.types, $0.excluded, $0.streams, $0.reach, $0.expression) })
}

extension Field<[UUID]> {
    fileprivate static let streams = whereThere(
        .uuids("streams", "Streams whose events are sent; all if it is missing."),
        write: { $0.isEmpty ? nil : $0 }, read: { $0 ?? [] })
}

extension EventFilter.Types {
    /// By wire names, and by what they begin with: `account.*`.
    public init(named texts: [String]) {
        self.init()
        for text in texts {
            if text.hasSuffix(".*") {
                families.insert(String(text.dropLast()))
            } else {
                names.insert(text)
            }
        }
    }

    /// Whether there are events of this type, or of this group.
    public static func isKnown(_ type: String) -> Bool {
        known.contains(type)
            || type.hasSuffix(".*") && known.contains { $0.hasPrefix(String(type.dropLast())) }
    }

    private static let known = Set(EventCatalogue.all.map(\.name))
}

extension EventReach: CaseIterable {
    public static let allCases: [EventReach] = [.services, .audit, .internal]

    /// What its readers are not told unless they ask for it by name.
    public var unasked: Set<String> {
        switch self {
        case .services: Self.unaskedOfServices
        case .audit: Self.unaskedOfAudit
        case .internal: []
        }
    }

    private static let unaskedOfServices = unasked { $0 != .services }
    private static let unaskedOfAudit = unasked { $0 == .internal }

    private static func unasked(_ isLeftOut: (EventReach) -> Bool) -> Set<String> {
        Set(EventCatalogue.all.filter { isLeftOut($0.reach) }.map(\.name))
    }
}
