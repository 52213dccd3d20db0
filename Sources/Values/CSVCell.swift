/// A cell of a row as RFC 4180 has it, safe to open in a spreadsheet.
///
/// Prevents CSV injection: a spreadsheet executes cells that begin like a formula, and a cell may
/// hold text from any client. Those cells get a leading apostrophe, which marks them as text.
public enum CSVCell {
    /// As it stands in a row.
    public static func quoted(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard needsQuotes else { return text }
        let doubled = text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
        return "\"\(doubled)\""
    }

    /// What a person or a program wrote, so that no spreadsheet takes it for a formula.
    public static func harmless(_ text: String) -> String {
        guard let first = text.unicodeScalars.first,
            ["=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"]
                .contains(first)
        else { return text }
        return "'" + text
    }
}
