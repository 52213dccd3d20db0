internal import Cryptography
internal import Identity
public import Values

/// Makes and reads the tokens of one realm. A token is its session, a number and a keyed digest of
/// both: it can be given again without being kept, and a forged one is known without a look-up.
public struct TokenMint: Sendable {
    /// A keyed digest under one of the realm's keys, for a purpose.
    public typealias Derivation =
        @Sendable (_ key: DerivationKey, _ purpose: String, _ bytes: [UInt8]) -> [UInt8]

    let derivation: Derivation
    /// How many versions of the derive key are accepted.
    let versions: Int
    /// The version of the derive key that this mint uses.
    var versionNumber = 0

    public init(versions: Int = 1, derivation: @escaping Derivation) {
        self.versions = versions
        self.derivation = derivation
    }

    /// 192 bits: cannot be guessed.
    private static let tagLength = 24

    // MARK: - Tokens

    struct RefreshToken: Equatable {
        let session: UUID
        let generation: Int
    }

    struct AccessToken: Equatable {
        let session: UUID
        let generation: Int
        let issuedAt: Timestamp
        let expiresAt: Timestamp
        /// Which of the session's scopes and resources it has, a bit each.
        let scopes: UInt64
        let resources: UInt16
        /// The thumbprint of the key that it is bound to.
        var key: String?
    }

    func refreshToken(_ granted: GrantedTokens) -> String {
        var bytes = granted.session.bytes
        append(UInt64(clamping: granted.generation), 4, to: &bytes)
        return write(bytes, .refreshToken)
    }

    func accessToken(
        _ granted: GrantedTokens, issuedAt: Timestamp, expiresAt: Timestamp
    ) -> String {
        var bytes = granted.session.bytes
        append(UInt64(clamping: granted.generation), 4, to: &bytes)
        append(UInt64(clamping: expiresAt.seconds), 5, to: &bytes)
        append(UInt64(clamping: expiresAt.seconds - issuedAt.seconds), 3, to: &bytes)
        append(mask(granted.scope, of: granted.terms.scope), 8, to: &bytes)
        append(mask(granted.resources, of: granted.terms.resources), 2, to: &bytes)
        bytes += granted.key.flatMap { Base64URL.decode($0) } ?? []
        return write(bytes, .accessToken)
    }

    func readRefreshToken(_ text: String) -> RefreshToken? {
        guard let bytes = read(text, .refreshToken, length: 20),
            let session = UUID(bytes: Array(bytes.prefix(16)))
        else { return nil }
        return RefreshToken(session: session, generation: Int(number(bytes[16..<20])))
    }

    func readAccessToken(_ text: String) -> AccessToken? {
        guard
            let bytes = read(text, .accessToken, length: 38)
                ?? read(text, .accessToken, length: 70),
            let session = UUID(bytes: Array(bytes.prefix(16)))
        else { return nil }
        let expiresAt = Timestamp(seconds: Int64(clamping: number(bytes[20..<25])))
        return AccessToken(
            session: session, generation: Int(number(bytes[16..<20])),
            issuedAt: expiresAt.adding(seconds: -Int64(clamping: number(bytes[25..<28]))),
            expiresAt: expiresAt, scopes: number(bytes[28..<36]),
            resources: UInt16(number(bytes[36..<38])),
            key: bytes.count > 38 ? Base64URL.encode(Array(bytes[38...])) : nil)
    }

    /// Those of a list that a token has.
    static func chosen(_ list: [String], by mask: UInt64) -> [String] {
        list.enumerated().filter { $0.offset < 64 && mask >> UInt64($0.offset) & 1 == 1 }
            .map(\.element)
    }

    private func mask(_ chosen: [String], of list: [String]) -> UInt64 {
        list.prefix(64).enumerated().reduce(0) { mask, entry in
            chosen.contains(entry.element) ? mask | 1 << UInt64(entry.offset) : mask
        }
    }

    /// The purpose is the token's prefix as well.
    func write(_ bytes: [UInt8], _ purpose: DerivedPurpose) -> String {
        purpose.rawValue + Base64URL.encode(bytes + derive(purpose, bytes).prefix(Self.tagLength))
    }

    func read(_ text: String, _ purpose: DerivedPurpose, length: Int) -> [UInt8]? {
        let prefix = purpose.rawValue
        guard text.utf8.starts(with: prefix.utf8), text.utf8.count < 192,
            let all = Base64URL.decode(String(text.dropFirst(prefix.count))),
            all.count == length + Self.tagLength
        else { return nil }
        let bytes = Array(all.prefix(length))
        let tag = Array(all.dropFirst(length))
        let isOurs =
            version { mint in
                constantTimeEqual(Array(mint.derive(purpose, bytes).prefix(Self.tagLength)), tag)
            } != nil
        return isOurs ? bytes : nil
    }

    private func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for index in (0..<count).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))))
        }
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The same for the same network, and not reversible without the key.
    public func pseudonym(ofAddress address: String) -> String {
        pseudonym(ofNetwork: Source(address).network)
    }

    func pseudonym(ofNetwork network: String) -> String {
        Base64URL.encode(Array(derive(.network, Array(network.utf8)).prefix(9)))
    }

    // MARK: - Mailboxes and codes

    /// The stream of a mail address or a phone number, which has been brought into its one form.
    func mailbox(_ address: String) -> UUID {
        .v8(derive(.mailbox, Array(address.utf8)))
    }

    /// The streams of the addresses of a person. Who has none is refused by the command.
    func addresses(of person: Person) -> Addresses {
        guard let email = person.email else {
            return Addresses(mailbox: person.phone.map(mailbox) ?? .zero)
        }
        return Addresses(mailbox: mailbox(email), phone: person.phone.map(mailbox))
    }

    /// The six digits that follow from a code's id. Each of a million is as likely as any other.
    public func code(_ id: UUID) -> String {
        var round: UInt8 = 0
        while true {
            let bytes = derive(.oneTimeCode, id.bytes + [round])
            for start in stride(from: 0, to: bytes.count - 3, by: 4) {
                let number = self.number(bytes[start..<start + 4])
                // What is above the last whole million would make some codes likelier.
                guard number < 4_294_000_000 else { continue }
                let digits = String(number % 1_000_000)
                return String(repeating: "0", count: 6 - digits.utf8.count) + digits
            }
            round &+= 1
        }
    }

    /// What the log keeps of a code: without the realm's key no attacker can try all million of
    /// them.
    func digest(ofCode code: String, for mailbox: UUID) -> SecretDigest? {
        SecretDigest(derive(.oneTimeCodeDigest, mailbox.bytes + Array(code.utf8)))
    }
}
