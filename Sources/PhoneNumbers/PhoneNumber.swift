internal import CPhoneNumber

/// A telephone number in its one form (ITU-T E.164).
///
/// Which numbers there are, and of what kind, is known to libphonenumber, whose tables follow the
/// numbering plans of all countries.
public struct PhoneNumber: Sendable, Hashable {
    /// What a number is good for; `other` where its plan does not say.
    public enum Kind: String, Sendable, CaseIterable {
        case fixedLine
        case mobile
        /// As in North America, where a number does not tell.
        case fixedLineOrMobile
        case tollFree
        case premiumRate
        case sharedCost
        case voip
        case personal
        case pager
        case universalAccess
        case voicemail
        case other

        /// Whether a message can be sent to it at the usual price.
        public var takesMessages: Bool {
            switch self {
            case .mobile, .fixedLineOrMobile: true
            case .fixedLine, .tollFree, .premiumRate, .sharedCost, .voip, .personal, .pager,
                .universalAccess, .voicemail, .other:
                false
            }
        }
    }

    /// Why a text is no telephone number.
    public enum Fault: String, Error, Sendable {
        case unreadable
        /// It begins without a country's code, and it is not known what country is meant.
        case needsCountry
        /// It has the form of one, and no country gives such numbers out.
        case unknown
    }

    /// With a plus sign, the country's code and digits alone: `+41791234567`.
    public let text: String
    /// The country by ISO 3166-1, such as `CH`; `001` where it is of none.
    public let region: String
    public let kind: Kind
    private let codeDigits: Int

    /// More than any number needs with all that people put between its digits.
    private static let mostBytes = 128

    /// Reads what a person typed: digits of any script, and between them what people write between digits.
    /// Letters are none, although telephones have them on their keys.
    ///
    /// - Parameter region: what country is meant where the text does not say.
    public init(_ typed: String, region: String? = nil) throws(Fault) {
        guard typed.utf8.count <= Self.mostBytes else { throw .unreadable }
        var plain = ""
        for scalar in typed.unicodeScalars {
            guard let read = Self.read(scalar) else { throw .unreadable }
            plain += read
        }
        let read = Array(plain.utf8CString)
        let found = unsafe read.withUnsafeBufferPointer { bytes in
            unsafe phone_number_read(bytes.baseAddress, read.count - 1, region ?? "")
        }
        switch found.verdict {
        case phone_number_good: self = PhoneNumber(found)
        case phone_number_needs_region: throw .needsCountry
        case phone_number_unknown: throw .unknown
        default: throw .unreadable
        }
    }

    private init(_ found: phone_number) {
        text = Self.text(of: found.text)
        region = Self.text(of: found.region)
        kind = Self.kind(found.kind)
        codeDigits = Int(found.code_digits)
    }

    /// Numbers that begin alike are often of one owner, who is paid for what is sent to them: all but the last
    /// four digits.
    public var block: String {
        // Small countries have short numbers.
        String(text.dropLast(min(4, max(0, text.utf8.count - 1 - codeDigits - 2))))
    }

    /// Whether there is a country of this name.
    public static func hasRegion(_ name: String) -> Bool {
        guard name.utf8.count == 2 else { return false }
        return unsafe phone_number_has_region(name)
    }

    /// The example that libphonenumber publishes.
    static func example(_ region: String, _ kind: Kind) -> PhoneNumber? {
        guard let index = Kind.allCases.firstIndex(of: kind) else { return nil }
        var found = phone_number()
        let code = phone_number_kind(UInt32(index))
        guard unsafe phone_number_example(region, code, &found) else { return nil }
        return PhoneNumber(found)
    }

    private static func kind(_ found: phone_number_kind) -> Kind {
        let kinds = Kind.allCases
        let index = Int(found.rawValue)
        return kinds.indices.contains(index) ? kinds[index] : .other
    }

    private static func text<Characters>(of characters: Characters) -> String {
        var characters = characters
        return unsafe withUnsafeBytes(of: &characters) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// What stands for it in a number: all spaces are one, and all dashes. Nil where it belongs in none.
    private static func read(_ scalar: Unicode.Scalar) -> String? {
        switch scalar.properties.generalCategory {
        case .decimalNumber: String(scalar)
        case .spaceSeparator: " "
        case .dashPunctuation: "-"
        // Marks that turn the direction of writing come along when a number is copied.
        case .format: ""
        default: plain[scalar]
        }
    }

    /// The full-width forms among them.
    private static let plain: [Unicode.Scalar: String] = [
        "+": "+", "\u{FF0B}": "+", "(": "(", "\u{FF08}": "(", ")": ")", "\u{FF09}": ")", ".": ".",
        "\u{FF0E}": ".", "/": "/", "\u{FF0F}": "/",
    ]
}
