internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// How an owner's sign-ins are asked for and answered.
extension Call<RealmContext> {
    /// Whom a sign-in is for, as the body names it.
    func ownerRequest(_ members: JSON) -> OwnerRequest {
        ownerRequest(
            .installation(
                installationStream(members["client_id"]?.string),
                .ofSecret(members["client_secret"]?.string)))
    }

    func ownerRequest(_ target: OwnerTarget) -> OwnerRequest {
        var request = OwnerRequest(
            target: target, session: context.newID(), code: context.newID(),
            from: context.signInPlace(of: request),
            now: context.clock.now())
        request.mail = context.newID()
        return request
    }

    /// Compares what the device made of a passphrase with what the log keeps. It takes as long whether
    /// the owner has one or not.
    func compareOwner(_ typed: String) async throws(Problem) -> PassphraseProof.Comparison {
        let account = try await RealmLookups(context).folded(Owner.self, Owner.stream).account
        var hash: String?
        if let account {
            hash = try await RealmLookups(context).folded(
                Passphrase.self, Passphrase.stream(of: account)
            ).hash
        }
        let isRight: Bool
        do {
            isRight = try await context.passphrases.verify(
                SecretBytes(Array(typed.utf8.prefix(4096))), hash,
                Passphrases(self).turn(about: Owner.stream))
        } catch {
            throw Problem(.busy)
        }
        guard let hash else { return .nothing }
        return isRight ? .right(hash: hash) : .wrong(hash: hash)
    }

    /// Signs the owner in by what the members show.
    ///
    /// - Parameter proved: the hash of the passphrase, where it was shown a step before.
    func signInOwner(
        _ members: JSON, for request: OwnerRequest, asksAnew: Bool = false, proved: String? = nil
    ) async throws(Problem) -> OwnerOutcome {
        try RateCounter(self).countRealm(.ownerSignIn)
        var comparison: PassphraseProof.Comparison
        if let proved {
            comparison = .right(hash: proved)
        } else {
            comparison = try await compareOwner(members["passphrase"]?.string ?? "")
        }
        let (typed, next) = try await secondStep(of: members, after: comparison)
        var command = SignInOwner(
            comparison: comparison, typed: asksAnew ? nil : typed, next: next, request: request)
        command.vouched = vouched(members)
        return try await Commands(self).dispatch(command, as: .anonymous)
    }

    /// The code that proves that the caller reads the owner's mails.
    func vouched(_ members: JSON) -> UUID? {
        members["email_verified_code"]?.string.flatMap(context.mint.readEmailVerifiedCode)
    }

    /// The mailed code that was typed, if one was, and the one that is mailed if none was.
    func secondStep(
        of members: JSON, after comparison: PassphraseProof.Comparison
    ) async throws(Problem) -> (
        typed: TypedMailedCode?, next: (id: UUID, digest: SecretDigest)
    ) {
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        let stream = MailedCode.stream(of: owner.account ?? .zero, .secondFactor)
        let next = context.newID()
        guard
            let digest = context.mint.digest(ofMailedCode: context.mint.code(next), in: stream)
        else { throw Problem(.internalError) }
        let typed = try typedMailedCode(members, in: stream)
        if typed == nil, vouched(members) == nil, case .right = comparison,
            owner.needsMailedCode
        {
            try RateCounter(self).countRealm(.ownerMail)
        }
        return (typed, (next, digest))
    }

    /// A token that is none of ours is as good as a wrong code.
    func typedMailedCode(
        _ members: JSON, in stream: UUID
    ) throws(Problem) -> TypedMailedCode? {
        // Documents of this profile know two names for the same.
        let digits =
            members["two_factor_passcode"]?.string ?? members["two_factor_code"]?.string ?? ""
        guard let token = members["two_factor_token"]?.string, !token.isEmpty else { return nil }
        return TypedMailedCode(
            id: context.mint.readMailedCodeToken(token) ?? .zero,
            shown: context.mint.shown { $0.digest(ofMailedCode: digits, in: stream) })
    }

    /// Tokens as this profile writes them: without an end, since its clients go by what they are told.
    func installationTokens(
        _ granted: GrantedTokens, withRefresh: Bool = true
    ) -> Response {
        let now = context.clock.now()
        var members: JSONObject = [
            "access_token": .string(
                context.mint.accessToken(
                    granted, issuedAt: now, expiresAt: now.adding(seconds: granted.lifetime))),
            "token_type": "bearer",
            "scope": .string(granted.scope.joined(separator: " ")),
        ]
        if withRefresh { members["refresh_token"] = .string(context.mint.refreshToken(granted)) }
        return .json(.ok, .object(members))
    }

    /// What the routes of the app's sign-in answer.
    func ownerResponse(_ outcome: OwnerOutcome) throws(Problem) -> Response {
        switch outcome {
        case .tokens(let granted): return installationTokens(granted)
        case .sessionCode(let code):
            return .json(.accepted, ["session_code": .string(context.mint.sessionCode(code))])
        case .mailedCodeNeeded(let id):
            return .json(
                .unauthorized, ["two_factor_token": .string(context.mint.mailedCodeToken(id))])
        case .done: return Response(status: .noContent)
        case .refused(let refusal): throw refusal.problem(in: language)
        }
    }

    var language: Language { context.place.settings[SettingCatalogue.language] }
}

extension OwnerRefusal: Refusal {
    var problem: Problem { problem(in: .english) }

    /// Most are what clients compare; what people read is in their language.
    func problem(in language: Language) -> Problem {
        switch self {
        case .notOffered: Problem(.noSuchRoute)
        case .invalidRegisterToken: .said(.invalidRequest, "invalid register_token")
        case .wrongPassphrase:
            .said(
                .invalidClient,
                language == .german
                    ? "Die Passphrase ist nicht richtig." : "The passphrase is not right.")
        case .wrongMailedCode:
            .said(
                .forbidden,
                language == .german
                    ? "Der Code ist nicht richtig." : "The code is not right.")
        case .invalidMagicCode: .said(.invalidClient, "invalid magic code")
        case .passphraseNeeded:
            .said(.invalidClient, "passphrase is required as second authentication factor")
        case .invalidDelegatedCode: .said(.invalidRequest, "invalid code")
        case .invalidProviderToken: .said(.invalidRequest, "invalid token")
        case .invalidScope: .said(.invalidRequest, "invalid scope")
        case .unknownInstallation: .said(.invalidRequest, "the client must be registered")
        case .wrongSecret: .said(.invalidRequest, "invalid client_secret")
        case .invalidRefreshToken: .said(.invalidRequest, "invalid refresh token")
        // The one text on which the apps begin anew.
        case .sessionOver: .said(.invalidRequest, "the client must be registered")
        case .invalidCode: .said(.invalidRequest, "invalid code")
        case .wrongVerifier: .said(.invalidRequest, "invalid code_verifier")
        }
    }
}
