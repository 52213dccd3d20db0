import JSON

/// What one check found.
struct Diagnosis: Equatable, Sendable {
    enum Verdict: String, Sendable {
        case fine
        /// It works, but not as it should in production.
        case warning
        /// The check found a fault or a weakness.
        case wrong
    }

    let check: String
    let verdict: Verdict
    let what: String
    let remedy: String?
    /// The realm of the diagnosis, if it concerns only one.
    var realm: String?

    /// As the table shows it.
    var name: String { realm.map { "\($0): \(check)" } ?? check }

    static func fine(_ check: String, _ what: String) -> Diagnosis {
        Diagnosis(check: check, verdict: .fine, what: what, remedy: nil)
    }

    static func warning(_ check: String, _ what: String, mend: String) -> Diagnosis {
        Diagnosis(check: check, verdict: .warning, what: what, remedy: mend)
    }

    static func wrong(_ check: String, _ what: String, mend: String) -> Diagnosis {
        Diagnosis(check: check, verdict: .wrong, what: what, remedy: mend)
    }

    var json: JSON {
        var members: JSONObject = [
            "check": .string(check), "verdict": .string(verdict.rawValue), "what": .string(what),
            "remedy": remedy.map { .string($0) } ?? .null,
        ]
        members["realm"] = realm.map { .string($0) }
        return .object(members)
    }
}

/// All that was found, for people and for programs.
struct Findings: Equatable, Sendable {
    let all: [Diagnosis]

    var isHealthy: Bool { !all.contains { $0.verdict == .wrong } }

    /// A table of all checks, and below it how to mend what is not fine.
    var text: String {
        var table = Table("check", "verdict", "what")
        for one in all { table.add(one.name, one.verdict.rawValue, one.what) }
        var lines = [table.render(width: Table.width)]
        for one in all {
            guard let remedy = one.remedy else { continue }
            lines += ["", "\(one.name): \(one.what)", "  \(remedy)"]
        }
        let wrong = all.count { $0.verdict == .wrong }
        lines += ["", wrong == 0 ? "Nothing is wrong." : "\(wrong) of \(all.count) are wrong."]
        return lines.joined(separator: "\n")
    }

    var json: JSON {
        .object(["healthy": .bool(isHealthy), "checks": .array(all.map(\.json))])
    }
}
