import Values

/// How the columns of a table share a limited width.
enum TableFit {
    /// The narrowest column that text is wrapped in.
    static let leastText = 20
    private static let leastColumn = 8
    /// An id without its middle: `253ed993…9f9f18`.
    private static let shortID = 15
    private static let wholeID = 36

    static func total(_ widths: [Int]) -> Int {
        widths.reduce(0, +) + 2 * max(0, widths.count - 1)
    }

    /// The widths that fit. The first column names the row and keeps its cells whole as long as it can.
    static func widths(_ natural: [Int], rows: [[String]], width: Int) -> [Int] {
        var widths = natural
        for column in widths.indices.dropFirst() where total(widths) > width {
            let cells = rows.map { $0[column] }.filter { !$0.isEmpty && $0 != "-" }
            if !cells.isEmpty, cells.allSatisfy({ UUID($0) != nil }) { widths[column] = shortID }
        }
        while total(widths) > width {
            let others = widths.indices.dropFirst().filter { widths[$0] > leastColumn }
            let widest = others.max { widths[$0] < widths[$1] }
            if let widest {
                widths[widest] -= 1
            } else if let first = widths.first, first > shortID {
                widths[0] = first - 1
            } else {
                break
            }
        }
        return widths
    }

    static func shorten(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(width)) }
        if text.count == wholeID, width >= shortID, UUID(text) != nil {
            return text.prefix(shortID - 7) + "…" + text.suffix(6)
        }
        return text.prefix(width - 1) + "…"
    }

    /// The text in pieces of this width, parted at spaces and behind commas where there are some.
    static func pieces(of text: String, width: Int) -> [String] {
        var pieces: [String] = []
        var rest = Substring(text)
        while rest.count > width {
            let head = rest.prefix(width + 1)
            let end =
                head.indices.last { place in
                    place > head.startIndex
                        && (head[place] == " " || head[head.index(before: place)] == ",")
                } ?? rest.index(rest.startIndex, offsetBy: width)
            pieces.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
        }
        if !rest.isEmpty || pieces.isEmpty { pieces.append(String(rest)) }
        return pieces
    }
}
