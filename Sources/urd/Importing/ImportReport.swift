import JSON

/// What became of the records of an export, in numbers.
struct ImportReport: Sendable {
    private(set) var records = 0
    private(set) var outcomes: [String: Int] = [:]
    /// Parts that were not taken, by their names in the export.
    private(set) var leftOut: [String: Int] = [:]
    private(set) var hashes = 0
    /// Where the export could be read no further.
    var fault: CommandFailure?

    mutating func count(_ outcome: String, leftOut parts: [String], hasHash: Bool) {
        records += 1
        outcomes[outcome, default: 0] += 1
        for part in parts { leftOut[part, default: 0] += 1 }
        if hasHash, outcome == "imported" { hashes += 1 }
    }

    func count(_ outcome: String) -> Int { outcomes[outcome, default: 0] }

    var json: JSON {
        [
            "records": .integer(Int64(records)), "imported": .integer(Int64(count("imported"))),
            "unchanged": .integer(Int64(count("unchanged"))),
            "refused": .integer(Int64(count("refused"))),
            "passphrases": .integer(Int64(hashes)),
            "left_out": .object(JSONObject(leftOut.map { ($0, .integer(Int64($1))) })),
        ]
    }

    func sentences(isTrial: Bool) -> [String] {
        let verb = isTrial ? "would be imported" : "imported"
        var lines = [
            "\(count("imported")) \(verb), \(count("unchanged")) unchanged, \(count("refused")) refused, of \(records) records."
        ]
        if !leftOut.isEmpty {
            let parts = leftOut.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \($0.value)" }
            lines.append("Left out: \(parts.joined(separator: ", ")).")
        }
        return lines
    }
}
