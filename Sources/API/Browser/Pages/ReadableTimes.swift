internal import HTML
internal import Identity
internal import Values

/// Times as people read them. The reader's time zone is unknown, so the time of day names its own.
extension LocalizedText {
    func moment(_ time: Timestamp) -> HTML {
        let text = time.description
        return HTML.element(.time, .moment(text), .class("nowrap")) { read(text) }
    }

    /// A duration in a few words, never shorter than it is.
    func span(_ seconds: Int64) -> String {
        guard seconds > 90 else {
            return seconds == 1
                ? self("1 second", "1 Sekunde") : self("\(seconds) seconds", "\(seconds) Sekunden")
        }
        let minutes = (seconds + 59) / 60
        return self("\(minutes) minutes", "\(minutes) Minuten")
    }

    /// From `2026-11-21T01:23:45…`.
    private func read(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 16, let month = Int(part(bytes, 5, 7)),
            let day = Int(part(bytes, 8, 10)),
            (1...12).contains(month)
        else { return text }
        let clock = "\(part(bytes, 11, 16)) UTC"
        let year = part(bytes, 0, 4)
        return self(
            "\(day) \(Self.english[month - 1]) \(year), \(clock)",
            "\(day). \(Self.german[month - 1]) \(year), \(clock)")
    }

    private func part(_ bytes: [UInt8], _ start: Int, _ end: Int) -> String {
        String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private static let english = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let german = [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
        "Oktober", "November", "Dezember",
    ]
}
