/// The languages in which mails are written.
public enum MailLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case german = "de"

    /// By a language tag such as `de-AT` (RFC 5646); nil for a language in which we do not write.
    public init?(tag: String) {
        let primary = tag.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        self.init(rawValue: String(decoding: primary.map(lowercased), as: UTF8.self))
    }

    /// The one of a reader's languages (RFC 9110 section 12.5.4) in which we write and that weighs most;
    /// of those that weigh the same, the first.
    public init?(accepted header: String?) {
        var best: (language: MailLanguage, weight: Int)?
        for item in (header ?? "").utf8.prefix(400).split(separator: UInt8(ascii: ",")) {
            let parts = item.filter { $0 != 0x20 && $0 != 0x09 }.split(separator: UInt8(ascii: ";"))
            guard let name = parts.first,
                let language = MailLanguage(tag: String(decoding: name, as: UTF8.self)),
                let weight = Self.weight(parts.dropFirst().first), weight > best?.weight ?? 0
            else { continue }
            best = (language, weight)
        }
        guard let best else { return nil }
        self = best.language
    }

    /// In thousandths (RFC 9110 section 12.4.2); nil for what is none.
    private static func weight(_ text: ArraySlice<UInt8>?) -> Int? {
        guard let text else { return 1000 }
        let sign = text.prefix(2).map(lowercased)
        let (whole, rest) = (text.dropFirst(2).first, text.dropFirst(3))
        let digits = rest.dropFirst()
        guard sign == Array("q=".utf8), whole == 0x30 || whole == 0x31,
            rest.isEmpty || rest.first == UInt8(ascii: "."), digits.count <= 3,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        var fraction = 0
        for place in 0..<3 {
            let digit = digits.dropFirst(place).first.map { Int($0) - 0x30 } ?? 0
            fraction = fraction * 10 + digit
        }
        return whole == 0x30 ? fraction : 1000
    }
}
