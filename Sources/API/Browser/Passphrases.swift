internal import Cryptography
internal import Identity
internal import JSON
@_spi(_Unicode) internal import Swift
internal import Values

/// What a passphrase must be. No rule asks for signs of some kind, which makes people choose what all
/// choose.
enum PassphraseRule {
    /// In Unicode scalars.
    static let length = 15...256
    /// As many of them are neither the account's address nor the part before its sign.
    private static let leastOfOwn = 8
    /// Shorter user names are part of many a word.
    private static let shortestName = 3

    enum Fault: Error {
        case tooShort, tooLong, known
    }

    static func check(_ text: String, of email: String?) -> Fault? {
        let count = text.unicodeScalars.count
        if count < length.lowerBound { return .tooShort }
        if count > length.upperBound { return .tooLong }
        // An attacker who guesses begins with what they know of the account.
        if let email, signs(of: text, beside: email) < leastOfOwn { return .known }
        let letters = Set(text.unicodeScalars)
        return letters.count < 5 ? .known : nil
    }

    private static func signs(of text: String, beside email: String) -> Int {
        let email = email.lowercased()
        let name = String(email.prefix { $0 != "@" })
        var rest = text.lowercased().replacing(email, with: "")
        if name.unicodeScalars.count >= shortestName { rest = rest.replacing(name, with: "") }
        return rest.unicodeScalars.count
    }
}

extension String {
    /// A passphrase in its one form, the profile OpaqueString of RFC 8265: keyboards differ in whether
    /// they compose a letter with its accent, and in which spaces they write.
    var asPassphrase: String {
        var text = String.UnicodeScalarView()
        for scalar in _nfc {
            text.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
        }
        return String(text)
    }
}

/// A typed passphrase, compared with what the log keeps.
struct ComparedPassphrase {
    let comparison: PassphraseProof.Comparison
    /// The hash that takes the place of one that another system made.
    var rehashed: String?
}

/// A passphrase as the keyboard sent it, and in its one form.
private struct TypedPassphrase {
    private static let most = 4096
    let raw: SecretBytes
    let secret: SecretBytes

    init(_ text: String) {
        raw = SecretBytes(Array(text.utf8.prefix(Self.most)))
        secret = SecretBytes(Array(text.asPassphrase.utf8.prefix(Self.most)))
    }
}

/// Hashes and compares the passphrases of a request.
struct Passphrases {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// What the log is to keep of a new passphrase, unless there is something wrong with it.
    func hash(
        ofNew typed: String, of account: UUID
    ) async throws(Problem) -> Result<String, PassphraseRule.Fault> {
        let address = try await PersonClaims(context).address(of: account)
        let text = typed.asPassphrase
        if let fault = PassphraseRule.check(text, of: address) { return .failure(fault) }
        let (secret, turn) = (SecretBytes(Array(text.utf8)), turn(about: account))
        do {
            if try await context.passphrases.isKnown(secret, turn) { return .failure(.known) }
            return .success(try await context.passphrases.hash(secret, turn))
        } catch {
            throw Problem(.busy)
        }
    }

    /// Compares the typed passphrase with the hash in the log. It takes as long for every mailbox
    /// (account enumeration).
    func compare(
        _ typed: String, for mailbox: UUID
    ) async throws(Problem) -> ComparedPassphrase {
        let kept = try await kept(by: mailbox)
        let (typed, turn) = (TypedPassphrase(typed), turn(about: mailbox))
        let hash = kept?.hash
        do {
            if let hash, kept?.isForeign == true {
                return try await compare(typed, foreign: hash, turn)
            }
            let isRight = try await context.passphrases.verify(typed.secret, hash, turn)
            guard let hash else { return ComparedPassphrase(comparison: .nothing) }
            return ComparedPassphrase(
                comparison: isRight ? .right(hash: hash) : .wrong(hash: hash))
        } catch {
            throw Problem(.busy)
        }
    }

    /// Other systems hash what the keyboard sends. A passphrase that is right is hashed anew, as ours are.
    private func compare(
        _ typed: TypedPassphrase, foreign hash: String, _ turn: PassphraseTurn
    ) async throws -> ComparedPassphrase {
        let work = context.passphrases
        var isRight = try await work.verifyForeign(typed.raw, hash, turn)
        if !isRight, typed.raw != typed.secret {
            isRight = try await work.verifyForeign(typed.secret, hash, turn)
        }
        guard isRight else { return ComparedPassphrase(comparison: .wrong(hash: hash)) }
        return ComparedPassphrase(
            comparison: .right(hash: hash), rehashed: try await work.hash(typed.secret, turn))
    }

    /// The place of this request in the queue for passphrase work. It allows no account enumeration: a mail
    /// address is queued alike whether or not an account has it.
    func turn(about target: UUID) -> PassphraseTurn {
        let source = Source(context.place.address)
        return PassphraseTurn(
            source: source.network, blocks: source.blocks,
            target: "\(context.place.realm)/\(target)")
    }

    func hash(of mailbox: UUID) async throws(Problem) -> String? {
        try await kept(by: mailbox)?.hash
    }

    private func kept(by mailbox: UUID) async throws(Problem) -> Passphrase? {
        guard let account = try await RealmLookups(context).folded(Mailbox.self, mailbox).account
        else { return nil }
        return try await RealmLookups(context).folded(
            Passphrase.self, Passphrase.stream(of: account))
    }
}

extension TokenMint {
    /// Shows for some minutes that the user typed the right passphrase with this browser, while the
    /// second factor is asked for.
    func secondStepTicket(
        _ mailbox: UUID, _ hash: String, form: String, until expiry: Timestamp
    ) -> String {
        let seconds = UInt64(clamping: expiry.seconds)
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: seconds >> (56 - 8 * UInt64($0))) }
        let tag = derive(
            .secondStep,
            mailbox.bytes + bytes + SHA256.hash(Array(hash.utf8))
                + Array(form.utf8))
        return Base64URL.encode(bytes + tag)
    }

    func isTicket(
        _ text: String, _ mailbox: UUID, _ hash: String, form: String, at now: Timestamp
    ) -> Bool {
        guard text.utf8.count < 128, let bytes = Base64URL.decode(text), bytes.count == 40 else {
            return false
        }
        let seconds = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let expiry = Timestamp(seconds: Int64(clamping: seconds))
        guard now < expiry else { return false }
        return version {
            constantTimeEqual(
                Array(text.utf8),
                Array($0.secondStepTicket(mailbox, hash, form: form, until: expiry).utf8))
        } != nil
    }
}
