internal import EventSourcing
internal import JSON
internal import Values

/// What some streams add up to, event by event.
struct AsOfFold: Sendable {
    private let kinds: Set<AsOfKind>
    private let account: UUID?
    private var parts: [UUID: any AsOfPart] = [:]

    /// - Parameter account: the account that the events are about; nil where one stream is folded.
    init(of kinds: Set<AsOfKind>, account: UUID? = nil) {
        self.kinds = kinds
        self.account = account
    }

    /// In the order of the log. What is of no kind that is shown is passed over.
    mutating func apply(_ recorded: Recorded) throws(Problem) {
        guard let kind = AsOfKind(ofEvent: recorded.name), kinds.contains(kind) else { return }
        var part = parts[recorded.stream] ?? kind.part(recorded.stream, of: account)
        try part.apply(recorded)
        parts[recorded.stream] = part
    }

    /// The part of a stream, where it stands in the whole.
    func part(of stream: UUID) -> JSONObject {
        guard let part = parts[stream], let members = part.members else { return [:] }
        return part.place.reversed().reduce(members) { inner, name in [name: .object(inner)] }
    }

    /// The state of all parts. Empty for a subject without events.
    var state: JSONObject {
        var state: JSONObject = [:]
        for stream in parts.keys { state = state.joined(with: part(of: stream)) }
        return state
    }
}

extension JSONObject {
    fileprivate func joined(with other: JSONObject) -> JSONObject {
        merging(other) { own, added in
            guard let own = own.object, let added = added.object else { return added }
            return .object(own.joined(with: added))
        }
    }
}

/// What is another value in one state than in another.
struct ChangedField: Equatable, Sendable {
    /// A JSON Pointer (RFC 6901) into the state.
    let field: String
    /// The value before the change; nil for a new field.
    let before: JSON?
    let after: JSON?

    var json: JSON {
        var members: JSONObject = ["field": .string(field)]
        members["before"] = before
        members["after"] = after
        return .object(members)
    }

    /// Lists are values; of objects the members are compared. In the order of the names.
    static func between(
        _ before: JSONObject, _ after: JSONObject, under pointer: String = ""
    ) -> [ChangedField] {
        Set(before.keys).union(after.keys).sorted().flatMap { name -> [ChangedField] in
            let place = pointer + "/" + escaped(name)
            let (old, new) = (before[name], after[name])
            if old == new { return [] }
            guard isPartwise(old), isPartwise(new) else {
                return [ChangedField(field: place, before: old, after: new)]
            }
            let inner = between(old?.object ?? [:], new?.object ?? [:], under: place)
            // An empty object that comes or goes has no members to name.
            return inner.isEmpty
                ? [ChangedField(field: place, before: old, after: new)] : inner
        }
    }

    /// What is not there has no members: all of the other's come or go.
    private static func isPartwise(_ value: JSON?) -> Bool {
        value.map { $0.object != nil } ?? true
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}

/// What one event changed in a state.
struct AsOfChange: Sendable {
    let event: Recorded
    let fields: [ChangedField]

    var json: JSON {
        var members: JSONObject = [
            "position": .integer(event.position), "at": .string(event.at.description),
            "actor": .string(event.actor), "type": .string(event.name),
            "stream": .string(event.stream.description),
            "fields": .array(fields.map(\.json)),
        ]
        members["client"] = event.client.map { .string($0) }
        return .object(members)
    }
}

/// How a state came to be another one.
struct AsOfDifference: Sendable {
    private(set) var before: JSONObject
    private(set) var after: JSONObject
    /// The changes, with those that were reverted in between.
    private(set) var changes: [AsOfChange] = []

    /// - Parameters:
    ///   - events: in the order of the log.
    ///   - position: up to which they were in the state before.
    init(_ fold: AsOfFold, _ events: [Recorded], behind position: Int64) throws(Problem) {
        var fold = fold
        for event in events where event.position <= position { try fold.apply(event) }
        before = fold.state
        for event in events where event.position > position {
            let old = fold.part(of: event.stream)
            try fold.apply(event)
            let fields = ChangedField.between(old, fold.part(of: event.stream))
            if !fields.isEmpty { changes.append(AsOfChange(event: event, fields: fields)) }
        }
        after = fold.state
    }

    var members: JSONObject {
        [
            "difference": .array(ChangedField.between(before, after).map(\.json)),
            "changes": .array(changes.map(\.json)),
        ]
    }
}
