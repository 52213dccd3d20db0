internal import CCrypt
internal import Cryptography

/// bcrypt: `$2b$12$` and 53 letters. What was typed counts up to its 72nd byte.
struct BcryptHash: HashScheme {
    static let prefixes = ["$2a$", "$2b$", "$2y$"]
    /// Each step is twice the work: 14 takes about a second.
    private static let costs = 4...14
    private static let digestLength = 31

    private let text: String

    init(_ text: String) throws(ForeignHash.Fault) {
        let letters = text.utf8
        guard letters.count == 60, text.dropFirst(6).first == "$",
            letters.dropFirst(4).prefix(2).allSatisfy({ (0x30...0x39).contains($0) }),
            let cost = Int(text.dropFirst(4).prefix(2)),
            text.dropFirst(7).utf8.allSatisfy(CryptText.isDigit)
        else { throw .malformed }
        guard cost <= Self.costs.upperBound else { throw .tooExpensive }
        guard cost >= Self.costs.lowerBound else { throw .malformed }
        self.text = text
    }

    /// The last letters alone are compared: some libraries leave bits of the salt's last letter set that mean nothing.
    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        guard let made = try CryptText.make(passphrase, text) else { return false }
        return constantTimeEqual(
            Array(made.utf8.suffix(Self.digestLength)), Array(text.utf8.suffix(Self.digestLength)))
    }
}

/// SHA-crypt of Unix: `$5$rounds=535000$salt$` or `$6$`, and 43 or 86 letters.
struct SHACryptHash: HashScheme {
    static let prefixes = ["$5$", "$6$"]
    /// A million takes about a second.
    private static let rounds = 1_000...1_000_000

    private let text: String
    private let digest: [UInt8]

    init(_ text: String) throws(ForeignHash.Fault) {
        var fields = HashText.fields(text).dropFirst(2)
        let length = text.hasPrefix("$5$") ? 43 : 86
        if let first = fields.first, first.hasPrefix("rounds=") {
            guard let rounds = HashText.number(first.dropFirst(7)) else { throw .malformed }
            guard rounds <= Self.rounds.upperBound else { throw .tooExpensive }
            guard rounds >= Self.rounds.lowerBound else { throw .malformed }
            fields = fields.dropFirst()
        }
        guard fields.count == 2, let salt = fields.first, let digest = fields.last,
            (1...16).contains(salt.utf8.count), salt.utf8.allSatisfy(CryptText.isDigit),
            digest.utf8.count == length, digest.utf8.allSatisfy(CryptText.isDigit)
        else { throw .malformed }
        self.text = text
        self.digest = Array(digest.utf8)
    }

    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        guard let made = try CryptText.make(passphrase, text) else { return false }
        return constantTimeEqual(Array(made.utf8.suffix(digest.count)), digest)
    }
}

/// What libcrypt makes of a passphrase.
enum CryptText {
    /// Of the alphabet in which crypt writes.
    static func isDigit(_ letter: UInt8) -> Bool {
        switch letter {
        case 0x2E...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// Nil for what crypt cannot have made a text of: it reads up to a zero, and refuses what is longer than 511 bytes.
    static func make(
        _ passphrase: SecretBytes, _ setting: String
    ) throws(ForeignHash.Fault) -> String? {
        guard passphrase.count < Int(CRYPT_MAX_PASSPHRASE_SIZE) else { return nil }
        var room = [CChar](repeating: 0, count: Int(CRYPT_OUTPUT_SIZE))
        let made = unsafe passphrase.withUnsafeBytes { bytes -> Bool? in
            guard unsafe !bytes.contains(0) else { return nil }
            var copy = unsafe bytes.map { CChar(bitPattern: $0) } + [0]
            defer { for place in copy.indices { copy[place] = 0 } }
            return unsafe shim_crypt(copy, setting, &room, room.count) == 1
        }
        guard let made else { return nil }
        guard made else { throw .library }
        let end = room.firstIndex(of: 0) ?? room.count
        return String(decoding: room[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
