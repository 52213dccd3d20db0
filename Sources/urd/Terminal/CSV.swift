import JSON
import Values

/// Rows as RFC 4180 has them, safe to open in a spreadsheet.
struct CSV: Equatable, Sendable {
    private var lines: [[String]]

    init(titles: [String]) {
        lines = [titles]
    }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == lines[0].count, "A row has a cell for each column.")
        lines.append(cells)
    }

    var bytes: [UInt8] {
        Array(
            lines.map { $0.map(CSVCell.quoted).joined(separator: ",") + "\r\n" }.joined().utf8)
    }
}

extension CSV {
    /// The same columns on every page of a list, whichever members its items have.
    init(listing items: [JSON], columns: [String]) {
        self.init(titles: columns)
        for item in items { add(columns.map { Self.cell(item[$0] ?? .null) }) }
    }

    private static func cell(_ value: JSON) -> String {
        switch value {
        case .null: ""
        case .string(let text): CSVCell.harmless(text)
        case .bool, .integer: String(decoding: value.canonical(), as: UTF8.self)
        case .array(let elements) where elements.allSatisfy({ $0.string != nil }):
            CSVCell.harmless(elements.compactMap(\.string).joined(separator: " "))
        case .array, .object: String(decoding: value.canonical(), as: UTF8.self)
        }
    }
}
