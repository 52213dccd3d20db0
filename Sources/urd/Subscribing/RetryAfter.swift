import Values

/// When a receiver asks to be called again (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// In how many seconds: said so, or as a date. Nil for a value in neither form.
    static func seconds(_ text: String, at now: Timestamp) -> Int64? {
        Int64(text) ?? date(text, near: now).map { $0.seconds - now.seconds }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// As HTTP writes it today, as RFC 850 did, or as asctime() does.
    private static func date(_ text: String, near now: Timestamp) -> Timestamp? {
        let words = text.split(separator: " ")
        switch words.count {
        case 6 where words[5] == "GMT": return date(words[3], words[2], words[1], words[4])
        case 5: return date(words[4], words[1], words[2], words[3])
        case 4 where words[3] == "GMT":
            let parts = words[1].split(separator: "-")
            guard parts.count == 3, parts[2].utf8.count == 2, let short = Int(parts[2]),
                let year = Int(now.description.prefix(4))
            else { return nil }
            // What would be more than fifty years ahead is past.
            let full = year / 100 * 100 + short
            let meant = full > year + 50 ? full - 100 : full
            return date("\(meant)", parts[1], parts[0], words[2])
        default: return nil
        }
    }

    private static func date(
        _ year: some StringProtocol, _ month: Substring, _ day: Substring, _ time: Substring
    ) -> Timestamp? {
        guard let month = months.firstIndex(of: String(month)) else { return nil }
        func padded(_ text: String) -> String { text.utf8.count < 2 ? "0" + text : text }
        return Timestamp(
            rfc3339: "\(year)-\(padded("\(month + 1)"))-\(padded(String(day)))T\(time)Z")
    }
}
