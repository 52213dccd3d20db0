internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import Values

extension Member {
    /// In every grant that a second factor may be asked for after.
    static var totpCode: Member {
        .optional(
            "totp_code", .text(0...128),
            "Code of the authenticator app (TOTP), or a recovery code, if the account "
                + "has a second factor.")
    }
}

/// Second factors, as a request brings them and as the log has them.
struct SecondFactors {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// What was typed in a grant, if anything was.
    var inGrant: TypedFactor? { typed(call.body["totp_code"]?.string) }

    /// Nothing but spaces and dashes is nothing.
    func typed(_ text: String?) -> TypedFactor? {
        guard let text else { return nil }
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

    /// From the log itself, where the secret is opened.
    func state(of account: UUID) async throws(Problem) -> TwoFactor {
        try await RealmLookups(context).folded(TwoFactor.self, TwoFactor.stream(of: account))
    }

    /// Changes the second factor of a user who is signed in with a browser.
    func change<C: AnsweringCommand>(
        _ change: C, by browser: SignedInBrowser
    ) async throws(Problem) -> TwoFactorOutcome
    where
        C.Facts == OwnTwoFactor, C.Outcome == TwoFactorOutcome, C.Rejection == TwoFactorRejection
    {
        try await Commands(call).dispatch(
            ChangeTwoFactor(
                change, in: .browser(browser.way, app: context.place.app), attempt: context.newID(),
                from: context.signInPlace(of: call.request)),
            as: .user(browser.subject))
    }

    /// What the authenticator app is to read, only while it is to be enrolled; with the secret to type where
    /// there is no camera.
    func offeredURI(for account: UUID) async throws(Problem) -> (uri: String, secret: String) {
        let offer = try await state(of: account).offer
        guard let offer, context.clock.now() < offer.expiresAt,
            let totp = offer.secret.flatMap({ TOTP(kept: $0) })
        else { throw TwoFactorRejection.notOffered.problem }
        return (try await enrolmentURI(of: totp, for: account), totp.text)
    }

    func enrolmentURI(of totp: TOTP, for account: UUID) async throws(Problem) -> String {
        let address = try await PersonClaims(context).address(of: account)
        // It stands there twice, each byte as three: with more of it no camera reads the picture.
        var issuer = ""
        for sign in context.place.settings[SettingCatalogue.displayName] {
            guard issuer.utf8.count + sign.utf8.count <= 60 else { break }
            issuer.append(sign)
        }
        return totp.enrolmentURI(issuer: issuer, account: address ?? account.description)
    }

    func digests(
        of codes: [RecoveryCode], for account: UUID
    ) throws(Problem) -> [SecretDigest] {
        let digests = codes.compactMap { context.mint.digest(of: $0, for: account) }
        guard digests.count == codes.count else { throw Problem(.internalError) }
        return digests
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
