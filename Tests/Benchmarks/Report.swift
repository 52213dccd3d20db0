import Glibc
import JSON

/// The figures for people and for programs.
enum Report {
    static func table(_ figures: [Figure]) -> String {
        let titles = ["FIGURE", "VALUE", "UNIT", "LIMIT", "LIMIT'S VALUE", "RATIO", "BAR", "MET"]
        let numbers: Set<Int> = [1, 4, 5]
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
        return [figure.name, value, figure.unit, limit, limitValue, ratio, bar, met]
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
            ("note", figure.note.map(string) ?? "null"),
        ]
        return "  {" + members.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }

    private static func string(_ text: String) -> String {
        String(decoding: JSON.string(text).canonical(), as: UTF8.self)
    }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        return "\((value * 10_000).rounded() / 10_000)"
    }
}
