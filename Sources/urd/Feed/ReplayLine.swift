import JSON
import Values

/// What a terminal shows of a replay: sign-ins in columns, in the order in which they happened, and the time of the
/// replay in the last line.
struct ReplayLine {
    private static let columns: [(title: String, width: Int)] = [
        ("TIME", 19), ("WHAT", 16), ("ACCOUNT", 8), ("CLIENT", 10), ("METHOD", 12), ("DEVICE", 7),
        ("DETAIL", 16),
    ]

    static var header: String {
        line(columns.map(\.title))
    }

    /// An event of the feed as a row.
    static func row(_ bytes: [UInt8]) -> String {
        let event = (try? JSON.parse(bytes))?.object ?? [:]
        let data = event["data"]?.object ?? [:]
        func text(_ names: String...) -> String {
            names.lazy.compactMap { data[$0]?.string }.first ?? ""
        }
        let method = text("method", "way").split(separator: ":").last.map(String.init) ?? ""
        let detail = text("reason")
        return line([
            time(event["at"]?.string), event["type"]?.string ?? "",
            // The end of an id tells people apart: ids of one moment begin alike.
            String(text("account").suffix(8)), text("client_id"), method,
            text("device"), detail,
        ])
    }

    /// The last line of a terminal, which the next one takes the place of.
    static func clock(_ members: JSONObject) -> String {
        let time = time(members["time"]?.string)
        let (position, end) = (members["position"]?.integer ?? 0, members["end"]?.integer ?? 0)
        let speed = members["speed"]?.integer ?? 0
        return "[\(time)  ×\(speed)  position \(position) of \(end)]"
    }

    private static func time(_ text: String?) -> String {
        guard let text else { return "" }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
    }

    private static func line(_ cells: [String]) -> String {
        var out = ""
        for (index, cell) in cells.enumerated() {
            let width = columns[index].width
            let shown = cell.count > width ? cell.prefix(width - 1) + "…" : cell[...]
            out += shown + String(repeating: " ", count: width - shown.count) + "  "
        }
        let text = String(out.reversed().drop { $0 == " " }.reversed())
        return Printable.text(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
    }
}
