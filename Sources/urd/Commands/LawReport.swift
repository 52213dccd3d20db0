import EventSourcing
import EventStore
import Laws

/// What the laws say of the logs of some realms, for people.
struct LawReport {
    private let findings: [(realm: RealmID, laws: LawFindings)]

    init(_ results: [Verification]) {
        findings = results.compactMap { result in result.laws.map { (result.realm, $0) } }
    }

    var isLawful: Bool { findings.allSatisfy(\.laws.isLawful) }

    /// Each law, over all realms.
    var laws: Table {
        var table = Table(
            "law", "asked", "broken", "unknown", "sentence",
            numbers: ["law", "asked", "broken", "unknown"])
        for index in findings.first?.laws.verdicts.indices ?? 0..<0 {
            let verdicts = findings.map { $0.laws.verdicts[index] }
            func sum(_ count: (LawFindings.Verdict) -> Int64) -> String {
                String(verdicts.reduce(0) { $0 + count($1) })
            }
            table.add(
                String(verdicts[0].number), sum(\.asked), sum(\.broken), sum(\.unknown),
                verdicts[0].sentence)
        }
        return table
    }

    /// The first violations of each law, where there are any.
    var violations: Table? {
        var table = Table("realm", "law", "position", "what", numbers: ["law", "position"])
        for (realm, laws) in findings {
            for one in laws.violations {
                table.add(realm.name, String(one.law), String(one.position), one.what)
            }
        }
        return table.rows.isEmpty ? nil : table
    }

    /// The positions before which something had to be known that was not read.
    var remark: String? {
        let incomplete = findings.filter { $0.laws.verdicts.contains { $0.unknown > 0 } }
        guard !incomplete.isEmpty else { return nil }
        let places = incomplete.map { "\($0.realm) from position \($0.laws.first)" }
        return "Unknown is what hangs on the past of what was read: "
            + places.joined(separator: ", ") + "."
    }
}
