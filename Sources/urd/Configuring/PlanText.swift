import JSON

/// A plan in words.
struct PlanText {
    private(set) var lines: [String] = []

    init(_ plan: JSON) {
        let realm = plan["realm"]?.string ?? ""
        let changes = plan["changes"]?.array ?? []
        let isNew = plan["new_realm"] == true
        if changes.isEmpty, !isNew {
            lines.append("Realm \(realm): nothing to do.")
        } else {
            lines.append("Realm \(realm): \(Self.summary(changes, isNew: isNew)).")
            if isNew { lines.append("  + realm \(realm)") }
            for change in changes { add(change) }
        }
        let unnamed = plan["unnamed"]?.array ?? []
        guard !unnamed.isEmpty else { return }
        lines.append("  Not in the file, and left as it is (--prune removes it):")
        for thing in unnamed {
            lines.append("    \(Self.text(thing["noun"])) \(Self.text(thing["name"]))")
        }
    }

    var text: String { lines.joined(separator: "\n") }

    static func summary(_ changes: [JSON], isNew: Bool) -> String {
        func count(_ action: String) -> Int { changes.count { $0["action"]?.string == action } }
        let parts = [
            (count("create") + (isNew ? 1 : 0), "to create"), (count("change"), "to change"),
            (count("remove"), "to remove"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    private mutating func add(_ change: JSON) {
        let sign =
            switch change["action"]?.string {
            case "create": "+"
            case "remove": "-"
            default: "~"
            }
        lines.append("  \(sign) \(Self.name(of: change))")
        lines += Self.members(of: change).map { "      \($0)" }
    }

    /// Such as `client shop`.
    static func name(of change: JSON) -> String {
        let name = text(change["name"])
        return text(change["noun"]) + (name.isEmpty ? "" : " \(name)")
    }

    /// A line for each member that changes.
    static func members(of change: JSON) -> [String] {
        let isNew = change["action"]?.string == "create"
        let values = (change["members"]?.array ?? []).map { value in
            let new = shown(value["new"])
            return "\(text(value["name"])): " + (isNew ? new : "\(shown(value["old"])) → \(new)")
        }
        let secrets = (change["secrets"]?.array ?? []).map {
            "\(text($0["name"])): the secret at \(text($0["from"]))"
        }
        return values + secrets
    }

    private static func shown(_ value: JSON?) -> String {
        guard let value, value != .null else { return "none" }
        return String(decoding: value.canonical(), as: UTF8.self)
    }

    private static func text(_ value: JSON?) -> String { value?.string ?? "" }
}
