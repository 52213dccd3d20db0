/// The languages in which mails are written.
public enum MailLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case german = "de"

    /// By a language tag such as `de-AT` (RFC 5646); nil for a language in which we do not write.
    public init?(tag: String) {
        let primary = tag.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        self.init(rawValue: String(decoding: primary.map(lowercased), as: UTF8.self))
    }
}
