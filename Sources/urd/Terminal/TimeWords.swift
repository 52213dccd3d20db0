import API
import Values

/// Times as people say them: `yesterday`, `24h`, `2 hours ago`. They become the day or instant that the
/// API takes; all are in UTC.
enum TimeWords {
    static let forms =
        " A day, an instant, today, yesterday, 24h, 7d or \"2 hours ago\" will do."

    private static let units: [String: Int64] = [
        "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
        "d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800,
    ]

    static func isTime(_ input: Operation.Input) -> Bool {
        input.place == .query && ["since", "until"].contains(input.name)
    }

    /// Where a position of the log will do, too.
    static func isMoment(_ input: Operation.Input) -> Bool {
        input.place == .path && ["moment", "from", "to"].contains(input.name)
    }

    /// - Returns: nil where the text is no time or duration.
    static func read(_ text: String, now: Timestamp) -> String? {
        let day = { (seconds: Int64) in String(now.adding(seconds: seconds).description.prefix(10))
        }
        switch text.lowercased() {
        case "now": return now.description
        case "today": return day(0)
        case "yesterday": return day(-86_400)
        default: break
        }
        if let seconds = seconds(text.lowercased()) {
            return now.adding(seconds: -seconds).description
        }
        let isDay = text.utf8.count == 10 && Timestamp(rfc3339: text + "T00:00:00Z") != nil
        return isDay || Timestamp(rfc3339: text) != nil ? text : nil
    }

    /// The instant that the text means, which for a day is its beginning.
    static func time(_ text: String, now: Timestamp) -> Timestamp? {
        guard let read = read(text, now: now) else { return nil }
        return Timestamp(rfc3339: read.utf8.count == 10 ? read + "T00:00:00Z" : read)
    }

    /// `24h`, `24 hours`, `2 hours ago`.
    static func seconds(_ text: String) -> Int64? {
        var words = text.split(separator: " ")[...]
        if words.count > 1, words.last == "ago" { words = words.dropLast() }
        let joined = words.joined()
        let digits = joined.prefix { $0.isASCII && $0.isNumber }
        var unit = String(joined.dropFirst(digits.count))
        if unit.count > 2, unit.hasSuffix("s") { unit.removeLast() }
        guard let number = Int64(digits), number <= 100_000_000, let factor = units[unit] else {
            return nil
        }
        return number * factor
    }
}
