/// Rows in columns, for people.
struct Table: Equatable, Sendable {
    enum Alignment: Sendable { case left, right }

    /// What happens to a row that is too wide.
    enum Overflow: Sendable {
        /// Cells lose their ends, or their middle where they are ids.
        case shorten
        /// The last cell goes on in the next line, so that nothing is lost.
        case wrap
    }

    /// How wide a table is by default.
    static let width = 100

    let columns: [(title: String, alignment: Alignment)]
    let overflow: Overflow
    private(set) var rows: [[String]] = []

    init(_ titles: String..., numbers: Set<String> = []) {
        columns = titles.map { ($0, numbers.contains($0) ? .right : .left) }
        overflow = .wrap
    }

    init(titles: [String], numbers: Set<String> = [], overflow: Overflow = .wrap) {
        columns = titles.map { ($0, numbers.contains($0) ? .right : .left) }
        self.overflow = overflow
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "A row has a cell for each column.")
        // One row is one line, also if a cell contains line breaks.
        rows.append(
            cells.map { cell in
                Printable.text(String(cell.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
            })
    }

    /// - Parameter width: at most this many columns; nil shows every cell whole, in one line.
    func render(width: Int? = nil) -> String {
        if rows.isEmpty { return "(none)" }
        let header = columns.map { $0.title.uppercased() }
        let natural = columns.indices.map { column in
            max(columns[column].title.count, rows.map { $0[column].count }.max() ?? 0)
        }
        guard let width, TableFit.total(natural) > width else {
            return ([header] + rows).map { line($0, natural) }.joined(separator: "\n")
        }
        if overflow == .wrap, let last = natural.last {
            let margin = TableFit.total(natural) - last
            if width - margin >= TableFit.leastText {
                return ([header] + rows).flatMap {
                    wrapped($0, natural, margin: margin, width: width)
                }.joined(separator: "\n")
            }
        }
        let widths = TableFit.widths(natural, rows: rows, width: width)
        return ([header] + rows).map { row in
            line(zip(row, widths).map { TableFit.shorten($0, to: $1) }, widths)
        }.joined(separator: "\n")
    }

    private func wrapped(
        _ cells: [String], _ widths: [Int], margin: Int, width: Int
    ) -> [String] {
        let pieces = TableFit.pieces(of: cells.last ?? "", width: width - margin)
        let first = line(cells.dropLast() + [pieces.first ?? ""], widths)
        let indent = String(repeating: " ", count: margin)
        return [first] + pieces.dropFirst().map { indent + $0 }
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
