/// Rows in columns, for people.
struct Table: Equatable, Sendable {
    enum Alignment: Sendable { case left, right }

    let columns: [(title: String, alignment: Alignment)]
    private(set) var rows: [[String]] = []

    init(_ titles: String..., numbers: Set<String> = []) {
        columns = titles.map { ($0, numbers.contains($0) ? .right : .left) }
    }

    init(titles: [String]) {
        columns = titles.map { ($0, .left) }
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "A row has a cell for each column.")
        // One row is one line, whatever is in it.
        rows.append(
            cells.map { cell in
                Printable.text(String(cell.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
            })
    }

    func render() -> String {
        if rows.isEmpty { return "(none)" }
        let widths = columns.indices.map { column in
            max(columns[column].title.count, rows.map { $0[column].count }.max() ?? 0)
        }
        let header = columns.map { $0.title.uppercased() }
        return ([header] + rows).map { line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (column, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
            switch columns[column].alignment {
            case .right: text += padding + cell
            case .left: text += column == cells.count - 1 ? cell : cell + padding
            }
            if column < cells.count - 1 { text += "  " }
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    static func == (left: Table, right: Table) -> Bool {
        left.rows == right.rows && left.columns.map(\.title) == right.columns.map(\.title)
    }
}
