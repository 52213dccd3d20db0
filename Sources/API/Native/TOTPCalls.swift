internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import ReadModels
internal import Values

/// What the routes of the second factor have in common.
extension Call<RealmContext> {
    /// Whose access token was shown.
    var accountOfCaller: UUID {
        get throws(Problem) { try caller.signedIn.account }
    }

    /// The account of a user who signed in recently, as changing a second factor requires.
    var accountToChange: UUID {
        get throws(Problem) {
            let (account, session) = try caller.signedIn
            try requireRecentSignIn(session)
            return account
        }
    }

    /// The account and the code that it shows. A code that can't be one is as wrong as any other.
    func counted() throws(Problem) -> (UUID, TypedFactor) {
        let account = try accountToChange
        try RateCounter(self).count(.twoFactor, target: account.description)
        guard let typed = typedFactor(body["Code"]?.string ?? "") else {
            throw TwoFactorRejection.wrongCode.problem
        }
        return (account, typed)
    }

    func change<C: Command>(_ command: C) async throws(Problem) where C.Rejection: Refusal {
        let account = try accountOfCaller
        try await Commands(self).dispatch(command, as: .user(account))
    }

    func prove<C: AnsweringCommand>(_ change: C) async throws(Problem)
    where
        C.Facts == OwnTwoFactor, C.Outcome == TwoFactorOutcome, C.Rejection == TwoFactorRejection
    {
        let (account, session) = try caller.signedIn
        let outcome = try await Commands(self).dispatch(
            ChangeTwoFactor(
                change, in: .client(session.terms), attempt: context.newID(), from: context.signInPlace(of: request)),
            as: .user(account))
        if case .failure(let rejection) = outcome { throw rejection.problem }
    }

    /// The same on a page, which says itself what was wrong.
    func prove<C: AnsweringCommand>(
        _ change: C, by browser: SignedInBrowser
    ) async throws(Problem) -> TwoFactorOutcome
    where
        C.Facts == OwnTwoFactor, C.Outcome == TwoFactorOutcome, C.Rejection == TwoFactorRejection
    {
        try await Commands(self).dispatch(
            ChangeTwoFactor(
                change, in: .browser(browser.way, app: context.place.app), attempt: context.newID(),
                from: context.signInPlace(of: request)),
            as: .user(browser.subject))
    }

    /// From the log itself, where the secret is opened.
    func twoFactor(of account: UUID) async throws(Problem) -> TwoFactor {
        let recorded = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(
                TwoFactor.stream(of: account), after: 0, in: context.place.realm)
        }
        var factor = TwoFactor()
        for event in recorded {
            guard let event = TwoFactorEvent(event) else { throw Problem(.logDamaged) }
            factor.apply(event)
        }
        return factor
    }

    /// What the authenticator app is to read: only while it is to be enrolled.
    func offeredURI() async throws(Problem) -> String {
        let account = try accountToChange
        try RateCounter(self).count(.twoFactor, target: account.description)
        return try await offeredURI(for: account).uri
    }

    /// The same for a user known by other means, with the secret to type where there is no camera.
    func offeredURI(for account: UUID) async throws(Problem) -> (uri: String, secret: String) {
        let offer = try await twoFactor(of: account).offer
        guard let offer, context.clock.now() < offer.expiresAt,
            let totp = offer.secret.flatMap({ TOTP(kept: $0) })
        else { throw TwoFactorRejection.notOffered.problem }
        return (try await enrolmentURI(of: totp, for: account), totp.text)
    }

    func enrolmentURI(of totp: TOTP, for account: UUID) async throws(Problem) -> String {
        let email = try await claims(of: account, ["email"])["email"]?.string
        // It stands there twice, each byte as three: with more of it no camera reads the picture.
        var issuer = ""
        for sign in context.place.settings[SettingCatalogue.displayName] {
            guard issuer.utf8.count + sign.utf8.count <= 60 else { break }
            issuer.append(sign)
        }
        return totp.enrolmentURI(issuer: issuer, account: email ?? account.description)
    }

    func digests(
        of codes: [RecoveryCode], for account: UUID
    ) throws(Problem) -> [SecretDigest] {
        let digests = codes.compactMap { context.mint.digest(of: $0, for: account) }
        guard digests.count == codes.count else { throw Problem(.internalError) }
        return digests
    }
}
