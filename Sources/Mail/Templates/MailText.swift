/// The words of one kind of mail in one language. Names in braces stand for what differs from mail
/// to mail; an empty line begins a new paragraph.
public struct MailText: Sendable, Hashable {
    public enum Part: String, Sendable, Hashable, CaseIterable {
        case subject
        /// What an inbox shows beside the subject.
        case preview
        case heading
        /// Before the code or the button.
        case introduction
        /// On the button; kinds without a link do not show it.
        case button
        /// Behind the code or the button.
        case closing
    }

    private var words: [Part: String]

    public init(
        subject: String, preview: String, heading: String, introduction: String,
        button: String = "", closing: String
    ) {
        words = [
            .subject: subject, .preview: preview, .heading: heading, .introduction: introduction,
            .button: button, .closing: closing,
        ]
    }

    public subscript(part: Part) -> String { words[part] ?? "" }

    func overridden(by changes: MailOverride?) -> MailText {
        var text = self
        for (part, words) in changes?.parts ?? [:] { text.words[part] = words }
        return text
    }
}

/// A realm's own words for parts of a mail; the rest stays ours. Code and button stay where they
/// are, regardless of the words.
public struct MailOverride: Sendable, Hashable {
    public let parts: [MailText.Part: String]

    public enum Fault: Error, Sendable, Hashable {
        case tooLong(MailText.Part)
        /// The text has no visible character.
        case empty(MailText.Part)
        /// The text must be one line.
        case severalLines(MailText.Part)
        /// In braces, but nothing that this mail knows in this part.
        case unknownPlaceholder(MailText.Part, String)
    }

    /// Checked when it is set, so that a mail is never held up by it.
    public init(_ parts: [MailText.Part: String], for kind: MailKind.Name) throws(Fault) {
        for part in MailText.Part.allCases {
            guard let words = parts[part] else { continue }
            let isLine = part != .introduction && part != .closing
            guard words.utf8.count <= (isLine ? 400 : 4000) else { throw .tooLong(part) }
            guard words.unicodeScalars.contains(where: isSeen) else { throw .empty(part) }
            let lines = words.split(whereSeparator: \.isNewline)
            guard !isLine || lines.count == 1 else { throw .severalLines(part) }
            let known = Placeholder.known(in: kind, part)
            for name in Placeholder.names(in: words) {
                guard let placeholder = Placeholder(rawValue: name), known.contains(placeholder)
                else { throw .unknownPlaceholder(part, name) }
            }
        }
        self.parts = parts
    }
}
