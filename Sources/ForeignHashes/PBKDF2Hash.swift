internal import Cryptography

/// PBKDF2 (RFC 8018): Django's `pbkdf2_sha256$600000$salt$key`, passlib's `$pbkdf2-sha256$29000$salt$key`, and
/// `$pbkdf2-sha256$i=210000,l=32$salt$key`.
struct PBKDF2Hash: HashScheme {
    static let prefixes = ["pbkdf2_sha", "$pbkdf2"]
    /// Rounds of the hash that take about a second.
    private static func mostRounds(_ function: PBKDF2.Function) -> Int {
        function == .sha512 ? 750_000 : 1_500_000
    }

    private static let functions: [Substring: PBKDF2.Function] = [
        "pbkdf2_sha1": .sha1, "pbkdf2_sha256": .sha256, "pbkdf2_sha512": .sha512,
        "pbkdf2": .sha1, "pbkdf2-sha1": .sha1, "pbkdf2-sha256": .sha256,
        "pbkdf2-sha512": .sha512,
    ]

    private let function: PBKDF2.Function
    private let rounds: Int
    private let salt: [UInt8]
    private let key: [UInt8]

    init(_ text: String) throws(ForeignHash.Fault) {
        // Django's texts do not begin with the sign, and their salt is no base 64.
        let isPlain = !text.hasPrefix("$")
        let fields = HashText.fields(isPlain ? text : String(text.dropFirst()))
        guard fields.count == 4, let function = Self.functions[fields[0]] else { throw .malformed }
        let costs = HashText.parameters(fields[1])
        guard let rounds = HashText.number(fields[1]) ?? costs?["i"],
            let salt = isPlain ? Array(fields[2].utf8) : HashText.bytes(fields[2]),
            let key = HashText.bytes(fields[3]), HashBounds.salt.contains(salt.count),
            HashBounds.output.contains(key.count), costs?["l"] ?? key.count == key.count
        else { throw .malformed }
        guard rounds <= Self.mostRounds(function) else { throw .tooExpensive }
        guard rounds > 0 else { throw .malformed }
        (self.function, self.rounds, self.salt, self.key) = (function, rounds, salt, key)
    }

    /// The blocks of a key do not depend on each other: the first alone is made, so that a key of four blocks takes no
    /// four times as long.
    func verify(_ passphrase: SecretBytes) throws(ForeignHash.Fault) -> Bool {
        let length = min(key.count, function.length)
        do {
            let made = try PBKDF2.derive(
                passphrase, salt: salt, rounds: rounds, length: length, by: function)
            return made == SecretBytes(Array(key.prefix(length)))
        } catch {
            throw .library
        }
    }
}
