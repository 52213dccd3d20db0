internal import Cryptography
internal import EventSourcing
internal import JSON
internal import Values

/// What a configuration changes in a realm.
struct ConfigurationPlan: Sendable {
    /// One thing that changes.
    struct Change: Sendable {
        enum Action: String, CaseIterable, Sendable { case create, change, remove }

        /// A member that changes. Nil where it is not there.
        struct Value: Sendable {
            let name: String
            let old: JSON?
            let new: JSON?
        }

        let action: Action
        let kind: ConfigurationKind
        /// The name of the thing; empty for a kind that has no names.
        let name: String
        var values: [Value] = []
        /// Secrets that are written with it, and where they stand.
        var secrets: [(name: String, place: String)] = []
        /// The streams that it writes.
        var streams: Set<Stream> = []

        var path: String { name.isEmpty ? kind.name : "\(kind.name)/\(name)" }
    }

    struct Stream: Hashable, Sendable {
        let realm: RealmID
        let id: UUID
    }

    let realm: RealmID
    var isNewRealm = false
    var changes: [Change] = []
    /// Things of the realm that the configuration does not name, by kind.
    var unnamed: [(kind: ConfigurationKind, name: String)] = []
    var faults: [ConfigurationFault] = []

    var isEmpty: Bool { changes.isEmpty && !isNewRealm }

    /// Stands for what is to change: who has seen it can have exactly that applied.
    var digest: String {
        Hex.encode(SHA256.hash(JSON.array(changes.map(\.json)).canonical()))
    }

    var json: JSON {
        [
            "realm": .string(realm.name), "new_realm": .bool(isNewRealm),
            "plan": .string(digest), "changes": .array(changes.map(\.json)),
            "unnamed": .array(
                unnamed.map {
                    [
                        "kind": .string($0.kind.name), "noun": .string($0.kind.noun),
                        "name": .string($0.name),
                    ]
                }),
            "errors": .array(faults.map(\.json)),
        ]
    }
}

extension ConfigurationPlan.Change {
    var json: JSON {
        [
            "action": .string(action.rawValue), "kind": .string(kind.name),
            "noun": .string(kind.noun), "name": .string(name),
            "members": .array(
                values.map { value in
                    var members: JSONObject = ["name": .string(value.name)]
                    members["old"] = value.old
                    members["new"] = value.new
                    return .object(members)
                }),
            "secrets": .array(
                secrets.map { ["name": .string($0.name), "from": .string($0.place)] }),
        ]
    }

    /// The members of two objects that differ, in the order of their names. Of an object within it, each of its members.
    static func differences(_ old: JSONObject, _ new: JSONObject) -> [Value] {
        var values: [Value] = []
        for name in Set(old.keys).union(new.keys).sorted() {
            let (before, after) = (old[name].orNothing, new[name].orNothing)
            guard before != after else { continue }
            if let before = before?.object, let after = after?.object {
                values += differences(before, after).map {
                    Value(name: "\(name)/\($0.name)", old: $0.old, new: $0.new)
                }
            } else {
                values.append(Value(name: name, old: before, new: after))
            }
        }
        return values
    }
}

extension JSON? {
    /// A null says as much as nothing.
    fileprivate var orNothing: JSON? { self == .null ? nil : self }
}
