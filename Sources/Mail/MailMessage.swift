public import Values

/// A mail: a text, the same as HTML, and who writes to whom.
///
/// Against header injection: no text that a user chose can begin a header or a part: names and the
/// subject are one line, addresses and identifiers have a narrow form, and both bodies are encoded.
public struct MailMessage: Sendable {
    public var from: Mailbox
    public var to: Mailbox
    public var replyTo: Mailbox?
    public var subject: String
    public var text: String
    public var html: String
    public var language: MailLanguage?
    public var date: Timestamp
    public var id: MessageID

    public init(
        from: Mailbox, to: Mailbox, replyTo: Mailbox? = nil, subject: String, text: String,
        html: String, language: MailLanguage? = nil, date: Timestamp, id: MessageID
    ) {
        self.from = from
        self.to = to
        self.replyTo = replyTo
        self.subject = subject
        self.text = text
        self.html = html
        self.language = language
        self.date = date
        self.id = id
    }

    /// As mail servers take it (RFC 5322, RFC 2045): ASCII in lines of at most 998 bytes.
    public var bytes: [UInt8] {
        var head = MailHead()
        head.add("From", from.words)
        head.add("To", to.words)
        if let replyTo { head.add("Reply-To", replyTo.words) }
        head.add("Subject", HeaderText.words(singleLine(subject, maximum: 200)))
        head.add("Date", [MailDate.text(date)])
        head.add("Message-ID", ["<\(id.text)>"])
        // Machines do not answer machines (RFC 3834; the second is what Exchange listens to).
        head.add("Auto-Submitted", ["auto-generated"])
        head.add("X-Auto-Response-Suppress", ["All"])
        if let language { head.add("Content-Language", [language.rawValue]) }
        head.add("MIME-Version", ["1.0"])
        head.add(
            "Content-Type", ["multipart/alternative;", "boundary=\"\(MailMessage.boundary)\""])
        var output = head.bytes + [0x0D, 0x0A]
        for (type, body) in [("plain", BodyText(text)), ("html", BodyText(html))] {
            var part = MailHead()
            part.add("Content-Type", ["text/\(type);", "charset=utf-8"])
            part.add("Content-Transfer-Encoding", [body.encoding])
            output += Array("--\(MailMessage.boundary)\r\n".utf8)
            output += part.bytes + [0x0D, 0x0A] + body.bytes
        }
        return output + Array("--\(MailMessage.boundary)--\r\n".utf8)
    }

    /// No encoded body has `=_` in it: quoted-printable has digits behind the sign, base 64 has
    /// nothing but the end.
    private static let boundary = "=_two-forms-of-one-text"
}

/// Header lines, folded between words where they would be longer than 76 bytes.
private struct MailHead {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ name: String, _ words: [String]) {
        var line = Array((name + ":").utf8)
        for (index, word) in words.enumerated() {
            if index > 0, line.count + 1 + word.utf8.count > 76 {
                bytes += line + [0x0D, 0x0A]
                line = []
            }
            line.append(0x20)
            line += Array(word.utf8)
        }
        bytes += line + [0x0D, 0x0A]
    }
}

/// A moment as mails have it (RFC 5322 section 3.3), in UTC.
enum MailDate {
    static func text(_ moment: Timestamp) -> String {
        let (date, time) = parts(moment)
        let days = clamped(moment).seconds / 86_400
        // 1 January 1970 was a Thursday.
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let month = months[((Int(date[1]) ?? 1) - 1) % 12]
        return "\(names[Int(days % 7)]), \(Int(date[2]) ?? 1) \(month) \(date[0]) \(time) +0000"
    }

    /// Year, month and day; hour, minute and second.
    static func parts(_ moment: Timestamp) -> (date: [String], time: String) {
        // Always `2026-11-21T05:10:26.000000Z` between 1970 and 9999.
        let text = clamped(moment).description
        return (
            text.prefix(10).split(separator: "-").map(String.init),
            String(text.dropFirst(11).prefix(8))
        )
    }

    private static func clamped(_ moment: Timestamp) -> Timestamp {
        min(max(moment, Timestamp(seconds: 0)), Timestamp(seconds: 253_402_300_799))
    }
}
