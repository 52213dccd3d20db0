internal import Cryptography
internal import Identity
internal import Values

/// What owners and their apps carry about: each is a name and its keyed digest, so that none has to be
/// kept.
extension TokenMint {
    private static let tagLength = 8

    /// The token by which an owner takes their realm over. 128 bits in hexadecimal digits.
    func registerToken(_ id: UUID) -> String {
        Hex.encode(Array(derive(.registerToken, id.bytes).prefix(16)))
    }

    func isRegisterToken(_ text: String, _ id: UUID) -> Bool {
        version { constantTimeEqual(Array($0.registerToken(id).utf8), Array(text.utf8)) } != nil
    }

    func sessionCode(_ id: UUID) -> String { named(.sessionCode, id) }

    func readSessionCode(_ text: String) -> UUID? { readNamed(text, .sessionCode) }

    /// Says which mailed code is meant, and nothing of its digits.
    func mailedCodeToken(_ id: UUID) -> String { named(.mailedCode, id) }

    func readMailedCodeToken(_ text: String) -> UUID? { readNamed(text, .mailedCode) }

    /// The digest of digits for the stream of their purpose and holder.
    func digest(ofMailedCode digits: String, in stream: UUID) -> SecretDigest? {
        SecretDigest(derive(.mailedCodeDigest, stream.bytes + Array(digits.utf8)))
    }

    /// By which an owner signs in: what a mailed link has in it.
    func magicCode(_ id: UUID) -> String { named(.ownerLink, id) }

    func readMagicCode(_ text: String) -> UUID? { readNamed(text, .ownerLink) }

    /// What an app shows for a user whom a provider knows.
    func delegatedCode(_ id: UUID) -> String { named(.delegatedCode, id) }

    func readDelegatedCode(_ text: String) -> UUID? { readNamed(text, .delegatedCode) }

    /// By which an owner moves to another mailbox: what a mailed link has in it.
    func ownerMove(_ code: UUID) -> String { named(.ownerMove, code) }

    func readOwnerMove(_ text: String) -> UUID? { readNamed(text, .ownerMove) }

    /// What the log keeps of it.
    func digest(ofOwnerMove code: UUID, to mailbox: UUID) -> SecretDigest? {
        SecretDigest(derive(.ownerMoveDigest, code.bytes + mailbox.bytes))
    }

    /// What is mailed; nil where the key that its digest was kept under is retired.
    func address(ofMove code: IssuedCode, to mailbox: UUID) -> String? {
        version { $0.digest(ofOwnerMove: code.id, to: mailbox) == code.digest }.map {
            (code.base ?? "") + $0.ownerMove(code.id)
        }
    }

    /// That its holder reads the owner's mails.
    func emailVerifiedCode(_ id: UUID) -> String { named(.emailVerified, id) }

    func readEmailVerifiedCode(_ text: String) -> UUID? { readNamed(text, .emailVerified) }

    /// What a trusted browser shows, as long as this is the passphrase.
    func trustToken(_ id: UUID, _ kept: String) -> String {
        Base64URL.encode(id.bytes + trustTag(id, kept))
    }

    func readTrustToken(_ text: String, _ kept: String) -> UUID? {
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text), bytes.count == 32,
            let id = UUID(bytes: Array(bytes.prefix(16))),
            version(where: {
                constantTimeEqual(Array(bytes.dropFirst(16)), $0.trustTag(id, kept))
            }) != nil
        else { return nil }
        return id
    }

    private func trustTag(_ id: UUID, _ kept: String) -> [UInt8] {
        Array(derive(.trustedBrowser, id.bytes + Array(kept.utf8)).prefix(16))
    }

    /// The token that resets a passphrase: of which account, and by which link.
    func resetToken(_ link: UUID, of account: UUID) -> String {
        mailed(link, of: account, .passphraseReset)
    }

    func readResetToken(_ text: String) -> (link: UUID, account: UUID)? {
        readMailed(text, .passphraseReset)
    }

    /// The token that cancels an account's deletion: of which account, and by which mail.
    func keepToken(_ mail: UUID, of account: UUID) -> String {
        mailed(mail, of: account, .keepAccount)
    }

    func readKeepToken(_ text: String) -> (link: UUID, account: UUID)? {
        readMailed(text, .keepAccount)
    }

    /// The URL that is mailed.
    func address(of link: IssuedMailedLink) -> String {
        switch link.purpose {
        case .signIn: link.base + magicCode(link.id)
        case .passphraseReset: link.base + resetToken(link.id, of: link.account)
        }
    }

    /// 32 characters.
    func named(_ purpose: DerivedPurpose, _ id: UUID) -> String {
        Base64URL.encode(id.bytes + derive(purpose, id.bytes).prefix(Self.tagLength))
    }

    func readNamed(_ text: String, _ purpose: DerivedPurpose) -> UUID? {
        guard text.utf8.count == 32, let bytes = Base64URL.decode(text), bytes.count == 24,
            let id = UUID(bytes: Array(bytes.prefix(16))),
            version(where: {
                constantTimeEqual(
                    Array(bytes.dropFirst(16)),
                    Array($0.derive(purpose, id.bytes).prefix(Self.tagLength)))
            }) != nil
        else { return nil }
        return id
    }

    /// 96 hexadecimal digits: what a link in a mail has in it that is for one account.
    private func mailed(_ link: UUID, of account: UUID, _ purpose: DerivedPurpose) -> String {
        let name = link.bytes + account.bytes
        return Hex.encode(name + derive(purpose, name).prefix(16))
    }

    private func readMailed(_ text: String, _ purpose: DerivedPurpose) -> (
        link: UUID, account: UUID
    )? {
        guard text.utf8.count == 96, let bytes = Hex.decode(text), Hex.encode(bytes) == text,
            let link = UUID(bytes: Array(bytes[..<16])),
            let account = UUID(bytes: Array(bytes[16..<32])),
            version(where: {
                constantTimeEqual(
                    Array(bytes[32...]), Array($0.derive(purpose, Array(bytes[..<32])).prefix(16)))
            }) != nil
        else { return nil }
        return (link, account)
    }
}
