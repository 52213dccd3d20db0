public import Cryptography
internal import Values

/// A hash of a passphrase that another system made: its text names the scheme, the cost and the salt.
///
/// A text comes from an import and is read as foreign input: what it asks for is bounded when it is read, so that a sign-in
/// never finds a text that takes minutes or gigabytes. Verification takes up to a second and 130 MiB: never on the
/// cooperative pool, and only a few at once.
public struct ForeignHash: Sendable {
    /// Why a text is refused.
    public enum Fault: String, Error, Equatable, Sendable {
        /// No scheme that is known begins so.
        case unknownScheme = "unknown_scheme"
        /// The scheme is known, and the text is not in its form.
        case malformed = "malformed"
        /// It asks for more time or memory than is granted.
        case tooExpensive = "too_expensive"
        /// The library could not compute it.
        case library = "library"
    }

    /// Text of the hash, as it is kept.
    public let text: String
    private let scheme: any HashScheme

    /// The longest text that is read.
    public static let longest = 1024

    public init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.longest else { throw .malformed }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed }
        let schemes: [any HashScheme.Type] = [
            BcryptHash.self, SHACryptHash.self, Argon2Hash.self, PBKDF2Hash.self, ScryptHash.self,
            FirebaseHash.self,
        ]
        guard
            let type = schemes.first(where: { $0.prefixes.contains { text.hasPrefix($0) } })
        else { throw .unknownScheme }
        scheme = try type.init(text)
        self.text = text
    }

    /// Whether the text was made of this passphrase, as it was typed.
    public func verify(_ passphrase: SecretBytes) throws(Fault) -> Bool {
        try scheme.verify(passphrase)
    }
}

/// One way to make a hash of a passphrase.
protocol HashScheme: Sendable {
    /// What its texts begin with.
    static var prefixes: [String] { get }

    init(_ text: String) throws(ForeignHash.Fault)

    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool
}

/// The texts between dollar signs, and the numbers and bytes in them.
enum HashText {
    static func fields(_ text: some StringProtocol) -> [Substring] {
        Substring(text).split(separator: "$", omittingEmptySubsequences: false)
    }

    /// A number without sign or leading zeros.
    static func number(_ text: some StringProtocol) -> Int? {
        guard (1...9).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.utf8.count == 1 || text.utf8.first != 0x30
        else { return nil }
        return Int(text)
    }

    /// `m=65536,t=3,p=4`: each name once. Nil for another form.
    static func parameters(_ text: Substring) -> [String: Int]? {
        var found: [String: Int] = [:]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = part.firstIndex(of: "="),
                let value = number(part[part.index(after: equals)...]),
                found.updateValue(value, forKey: String(part[..<equals])) == nil
            else { return nil }
        }
        return found
    }

    /// Base 64 in the spellings of these texts: with or without padding, and with a dot for the plus sign.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var digits = String(text.map { $0 == "." ? "+" : $0 })
        while digits.hasSuffix("="), digits.utf8.count > text.utf8.count - 2 { digits.removeLast() }
        let rest = digits.utf8.count % 4
        guard rest != 1 else { return nil }
        return Base64.decode(digits + String(repeating: "=", count: (4 - rest) % 4))
    }
}

/// The bounds of what a text may ask for.
enum HashBounds {
    /// In bytes: 128 MiB and what scrypt needs beside.
    static let memory = 130 << 20
    /// Fewer bytes could be met by chance.
    static let output = 16...128
    static let salt = 1...128
}
