/// The languages in which mails are written.
public enum MailLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case german = "de"

    /// By a language tag such as `de-AT` (RFC 5646); nil for a language in which we do not write.
    public init?(tag: String) {
        let primary = tag.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        self.init(rawValue: String(decoding: primary.map(lowercased), as: UTF8.self))
    }

    /// The first of a reader's languages (RFC 9110 section 12.5.4) in which we write. Readers put them
    /// in the order of their liking; weights that say otherwise are rare, and not worth a mistake.
    public init?(accepted header: String?) {
        let tags = (header ?? "").utf8.prefix(200).split(separator: UInt8(ascii: ","))
        for tag in tags {
            let name = tag.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
            guard let language = MailLanguage(tag: String(decoding: name, as: UTF8.self)) else {
                continue
            }
            self = language
            return
        }
        return nil
    }
}
