import Glibc
import JSON

/// The figures for people and for programs.
enum Report {
    static func table(_ figures: [Figure]) -> String {
        let titles = [
            "FIGURE", "VALUE", "UNIT", "LIMIT", "LIMIT'S VALUE", "RATIO", "BAR", "MET",
            "COST µs", "PLAIN + COMMIT µs", "QUOTIENT", "SPREAD",
        ]
        let numbers: Set<Int> = [1, 4, 5, 8, 9, 10]
        let rows = figures.map(cells)
        let widths = titles.indices.map { column in
            ([titles] + rows).map { $0[column].count }.max() ?? 0
        }
        var lines = ([titles] + rows).map { cells in
            cells.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - cells[column].count)
                return numbers.contains(column) ? padding + cells[column] : cells[column] + padding
            }.joined(separator: "  ")
        }
        lines.append("")
        for figure in figures {
            lines.append("\(figure.name.padded(to: 18))\(figure.summary)")
            if let cost = figure.cost { lines.append("\("".padded(to: 18))\(text(cost))") }
            if let note = figure.note { lines.append("\("".padded(to: 18))\(note)") }
        }
        return lines.joined(separator: "\n")
    }

    private static func cells(_ figure: Figure) -> [String] {
        let value = figure.value.map(spoken) ?? "not measured"
        let limit = figure.limit?.name ?? "-"
        let limitValue = figure.limit.map { spoken($0.value) } ?? "-"
        let ratio = figure.ratio.map(spoken) ?? "-"
        let met = figure.isMet.map { $0 ? "yes" : "NO" } ?? "-"
        let bar = figure.bar.text(figure.unit)
        let costs = figure.cost.map { cost in
            [
                spoken(cost.server + cost.database), spoken(cost.plainAnswer + cost.bareCommit),
                spoken(cost.quotient), "\(spoken(cost.lowest))-\(spoken(cost.highest))",
            ]
        }
        return [figure.name, value, figure.unit, limit, limitValue, ratio, bar, met]
            + (costs ?? ["-", "-", "-", "-"])
    }

    /// A figure by itself, as soon as it is there.
    static func line(_ figure: Figure) -> String {
        guard let value = figure.value else {
            return "\(figure.name.padded(to: 18))\(figure.note ?? "not measured")"
        }
        var parts = ["\(spoken(value)) \(figure.unit)"]
        if let ratio = figure.ratio, let limit = figure.limit {
            parts.append("\(spoken(ratio)) x \(limit.name)")
        }
        if let cost = figure.cost { parts.append("cost quotient \(spoken(cost.quotient))") }
        if let isMet = figure.isMet {
            parts.append("bar \(figure.bar.text(figure.unit)): \(isMet ? "met" : "MISSED")")
        }
        return figure.name.padded(to: 18) + parts.joined(separator: ", ")
    }

    private static func text(_ cost: Cost) -> String {
        "processor time of one: \(spoken(cost.server)) µs server, "
            + "\(spoken(cost.database)) µs PostgreSQL, \(spoken(cost.load)) µs load; "
            + "a plain answer \(spoken(cost.plainAnswer)) µs, "
            + "a bare commit \(spoken(cost.bareCommit)) µs; \(cost.rounds.count) rounds"
    }

    static func write(_ figures: [Figure], to path: String) throws {
        let text = "[\n" + figures.map(json).joined(separator: ",\n") + "\n]\n"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw BenchmarkFailure("\(path) cannot be written.") }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard bytes.withUnsafeBytes({ Glibc.write(file, $0.baseAddress, $0.count) }) == bytes.count
        else { throw BenchmarkFailure("\(path) cannot be written.") }
    }

    /// Our own JSON knows no fractions, so only its strings are used here.
    private static func json(_ figure: Figure) -> String {
        let limit = figure.limit.map {
            "{\"name\": \(string($0.name)), \"value\": \(number($0.value))}"
        }
        let members = [
            ("name", string(figure.name)), ("value", number(figure.value)),
            ("unit", string(figure.unit)), ("limit", limit ?? "null"),
            ("ratio", number(figure.ratio)), ("bar", string(figure.bar.text(figure.unit))),
            ("met", figure.isMet.map { "\($0)" } ?? "null"),
            ("cost", figure.cost.map(json) ?? "null"),
            ("note", figure.note.map(string) ?? "null"),
        ]
        return "  {" + members.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }

    private static func json(_ cost: Cost) -> String {
        let members = [
            ("server", cost.server), ("database", cost.database), ("load", cost.load),
            ("plain_answer", cost.plainAnswer), ("bare_commit", cost.bareCommit),
            ("quotient", cost.quotient), ("lowest", cost.lowest), ("highest", cost.highest),
        ]
        return "{" + members.map { "\"\($0)\": \(number($1))" }.joined(separator: ", ") + "}"
    }

    private static func string(_ text: String) -> String {
        String(decoding: JSON.string(text).canonical(), as: UTF8.self)
    }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        return "\((value * 10_000).rounded() / 10_000)"
    }
}
