internal import Cryptography
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

extension Member {
    /// In every grant that a second factor may be asked for after.
    static var totpCode: Member {
        .optional(
            "totp_code", .text(0...128),
            "A code of the authenticator app, or a recovery code: where the account has them.")
    }
}

extension Call<RealmContext> {
    /// What was typed as a second factor. Nothing but spaces and dashes is nothing.
    var secondFactor: TypedFactor? { body["totp_code"]?.string.flatMap(typedFactor) }

    func typedFactor(_ text: String) -> TypedFactor? {
        let plain = String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    !$0.properties.isWhitespace
                        && $0.properties.generalCategory != .dashPunctuation
                }))
        guard !plain.isEmpty else { return nil }
        let (mint, second) = (context.mint, context.clock.now().seconds)
        return TypedFactor(
            mail: context.newID(),
            step: { secret in
                guard let totp = TOTP(kept: secret) else { return nil }
                // Where the library fails nothing is right.
                return (try? totp.matchingStep(of: plain, atSecond: second)) ?? nil
            },
            recoveryDigest: { account in
                RecoveryCode(typed: plain).flatMap { mint.digest(of: $0, for: account) }
            })
    }
}

extension TOTP {
    /// As the log keeps a secret.
    init?(kept text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(secret: SecretBytes(bytes))
    }

    var kept: String { Base64URL.encode(secret.exposedCopy()) }
}

extension TokenMint {
    /// What the log keeps of a recovery code: worth nothing to who has no key of the realm.
    func digest(of code: RecoveryCode, for account: UUID) -> SecretDigest? {
        SecretDigest(derive(.recoveryCodeDigest, account.bytes + Array(code.plain.utf8)))
    }
}
