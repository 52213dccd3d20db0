import JSON

/// What differs from a configuration file, in words.
struct DriftText {
    private(set) var lines: [String] = []

    init(_ drift: JSON) {
        let realm = drift["realm"]?.string ?? ""
        let differences = drift["differences"]?.array ?? []
        let changed = differences.filter(Self.wasChanged)
        let waiting = differences.filter { !Self.wasChanged($0) }
        let since = Self.since(drift["applied"])
        lines.append(
            changed.isEmpty
                ? "Realm \(realm): nothing was changed \(since)."
                : "Realm \(realm): \(changed.count) changed \(since).")
        for difference in changed { add(difference) }
        guard !waiting.isEmpty else { return }
        lines.append("  In the file alone, and not applied yet:")
        for difference in waiting {
            lines.append("    \(PlanText.name(of: difference["difference"] ?? .null))")
        }
    }

    var text: String { lines.joined(separator: "\n") }

    static func hasDrifted(_ drift: JSON) -> Bool {
        (drift["differences"]?.array ?? []).contains(where: wasChanged)
    }

    private static func wasChanged(_ difference: JSON) -> Bool {
        difference["events"]?.array?.isEmpty == false
    }

    private static func since(_ applied: JSON?) -> String {
        guard let file = applied?["file"]?.string else { return "by hand: no file was applied yet" }
        return "since apply:\(file.prefix(12))… of \(applied?["by"]?.string ?? "") at position "
            + "\(applied?["position"]?.integer ?? 0), \(applied?["at"]?.string ?? "")"
    }

    private mutating func add(_ difference: JSON) {
        let change = difference["difference"] ?? .null
        let name = PlanText.name(of: change)
        switch change["action"]?.string {
        case "create": lines.append("  \(name): in the file, and gone from the realm")
        case "remove": lines.append("  \(name): in the realm, and not in the file")
        default:
            lines.append("  \(name), realm → file:")
            lines += PlanText.members(of: change).map { "      \($0)" }
        }
        for event in difference["events"]?.array ?? [] {
            lines.append(
                "    position \(event["position"]?.integer ?? 0), \(event["at"]?.string ?? ""), "
                    + "\(event["actor"]?.string ?? ""): \(event["type"]?.string ?? "")")
        }
    }
}
