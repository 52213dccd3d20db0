import JSON

/// Rows as RFC 4180 has them, safe to open in a spreadsheet.
///
/// Prevents CSV injection: a spreadsheet executes cells that begin like a formula, and a cell may
/// hold text from any client. Those cells get a leading apostrophe, which marks them as text.
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
            lines.map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined().utf8)
    }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard needsQuotes else { return text }
        let doubled = text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
        return "\"\(doubled)\""
    }

    /// What a person or a program wrote, so that no spreadsheet takes it for a formula.
    static func harmless(_ text: String) -> String {
        guard let first = text.unicodeScalars.first,
            ["=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"]
                .contains(first)
        else { return text }
        return "'" + text
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
        case .string(let text): harmless(text)
        case .bool, .integer: String(decoding: value.canonical(), as: UTF8.self)
        case .array(let elements) where elements.allSatisfy({ $0.string != nil }):
            harmless(elements.compactMap(\.string).joined(separator: " "))
        case .array, .object: String(decoding: value.canonical(), as: UTF8.self)
        }
    }
}
