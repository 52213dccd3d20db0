internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The progress of a sign-in in an app that asks the user itself. The app carries it, sealed.
struct ChallengeStep: Sendable {
    var client: UUID
    var scope: [String]
    var resources: [String]
    var challenge: SecretDigest?
    /// The thumbprint of the key that the app has proved: it must prove it again.
    var key: String?
    var until: Timestamp
    var email: String?
    /// The code was good, and is not enough.
    var needsSecondFactor = false

    static let lifetime: Int64 = 900

    var json: JSON {
        var members: JSONObject = [
            "client": .string(client.description), "until": .integer(until.seconds),
            "scope": .array(scope.map { .string($0) }),
            "resources": .array(resources.map { .string($0) }),
        ]
        members["challenge"] = challenge.map { .string(Base64URL.encode($0.bytes)) }
        members["key"] = key.map { .string($0) }
        members["email"] = email.map { .string($0) }
        return .object(members)
    }

    init(
        client: UUID, scope: [String], resources: [String], challenge: SecretDigest?,
        key: String?, until: Timestamp
    ) {
        self.client = client
        self.scope = scope
        self.resources = resources
        self.challenge = challenge
        self.key = key
        self.until = until
    }

    init?(_ json: JSON) {
        guard let client = json["client"]?.string.flatMap({ UUID($0) }),
            let until = json["until"]?.integer
        else { return nil }
        self.init(
            client: client, scope: json["scope"]?.array?.compactMap(\.string) ?? [],
            resources: json["resources"]?.array?.compactMap(\.string) ?? [],
            challenge: json["challenge"]?.string.flatMap { Base64URL.decode($0) }
                .flatMap { SecretDigest($0) },
            key: json["key"]?.string, until: Timestamp(seconds: until))
        email = json["email"]?.string
    }
}

extension Call<RealmContext> {
    /// A user who types a code into an app trusts it with the account: so the client must be
    /// first-party, which is checked before anything else.
    func requireFirstParty(_ client: PresentClient) async throws(Problem) {
        guard let settings = try await RealmLookups(context).settings(ofApp: client.metadata.appID),
            settings[SettingCatalogue.nativeGrants]
        else {
            throw GrantRefusal.unsupportedGrant.problem
        }
        let metadata = client.metadata
        guard metadata.grantTypes.contains(.authorizationCode),
            metadata.grantTypes.contains(where: \.isNative)
        else { throw GrantRefusal.unauthorizedClient.problem }
        guard metadata.consent == .none else {
            throw Problem(
                .unauthorizedClient, "The client must be the realm's own: it needs consent none.")
        }
    }

    func step(of client: PresentClient, key: String?) throws(Problem) -> ChallengeStep {
        let now = context.clock.now()
        if let text = body["auth_session"]?.string {
            guard let step = context.mint.unseal(text, for: .challenge).flatMap(ChallengeStep.init),
                step.client == client.id, step.key == key, now < step.until
            else { throw Problem(.invalidAuthSession) }
            return step
        }
        let request = try grantRequest(of: client)
        for resource in request.resources
        where !client.metadata.mayAsk(
            for: resource, context.place.settings, from: context.place.issuer)
        {
            throw Problem(.invalidTarget)
        }
        let scope: [String]
        do throws(GrantRefusal) {
            scope = try Scope.granted(request.scope, to: client.metadata)
        } catch {
            throw error.problem
        }
        return ChallengeStep(
            client: client.id, scope: scope, resources: request.resources,
            challenge: try codeChallenge(isNeeded: client.metadata.authenticationMethod == .none),
            key: key, until: now.adding(seconds: ChallengeStep.lifetime))
    }

    private func codeChallenge(isNeeded: Bool) throws(Problem) -> SecretDigest? {
        guard let text = body["code_challenge"]?.string else {
            if isNeeded { throw Problem(.invalidRequest, "code_challenge is required.") }
            return nil
        }
        guard body["code_challenge_method"]?.string == "S256",
            let digest = Base64URL.decode(text).flatMap({ SecretDigest($0) })
        else { throw Problem(.invalidRequest, "code_challenge_method can only be S256.") }
        return digest
    }

    func sendCode(to name: String, _ step: inout ChallengeStep) async throws(Problem) {
        let settings = context.place.settings
        guard let address = SignInAddress(typed: name, settings) else {
            return try RateCounter(self).count(.nativeOTP)
        }
        let counter = RateCounter(self)
        let mailbox = context.mint.mailbox(address.text)
        let allows = try counter.allows { () throws(Problem) in
            try counter.countCode(to: address, mailbox)
        }
        step.email = address.text
        guard allows else { return }
        try await BrowserSignIns(self).sendCode(
            .signIn, address.person(), by: address.channel(settings), mayJoin: true)
    }

    /// The code for the token endpoint, where what was typed is enough.
    func redeemCode(
        _ typed: String, _ step: inout ChallengeStep
    ) async throws(Problem) -> String? {
        guard let email = step.email else {
            throw Problem(.invalidRequest, "username comes before otp_code.")
        }
        let mailbox = context.mint.mailbox(email)
        let counter = RateCounter(self)
        try counter.count(.emailOTPVerify, target: counter.atBlock(mailbox.description))
        let digits = typed.filter { $0 != " " }
        var grant = OTPGrant(
            mailbox: mailbox, shown: context.mint.shown { $0.digest(ofCode: digits, for: mailbox) },
            account: context.newID(), second: SecondFactors(self).inGrant)
        // Such apps ask for no names.
        grant.joiner = JoinerNames(firstName: nil, lastName: nil)
        return try await redeem(grant, by: .code, &step)
    }

    /// The same, where a passkey was shown: the client may have people sign in with those.
    func signInByPasskey(
        _ client: PresentClient, _ step: inout ChallengeStep
    ) async throws(Problem) -> String? {
        guard client.metadata.grantTypes.contains(.nativePasskey) else {
            throw GrantRefusal.unauthorizedClient.problem
        }
        return try await redeem(try await PasskeyProofs(self).grant(), by: .passkey, &step)
    }

    private func redeem<Shown: SignInProof>(
        _ shown: Shown, by method: BrowserMethod, _ step: inout ChallengeStep
    ) async throws(Problem) -> String? {
        // No browser has the secret: this session cannot be used with a cookie.
        guard let secret = SecretDigest(Random.bytes(32)) else { throw Problem(.internalError) }
        let client = try caller.client.clientID
        let outcome: Result<OpenedBrowser, GrantRefusal>
        do throws(Problem) {
            outcome = try await Commands(self).dispatch(
                SignInBrowser(
                    shown, by: method, session: context.newID(), digest: secret,
                    app: context.place.app,
                    from: context.signInPlace(of: request), now: context.clock.now()),
                as: .client(client))
        } catch {
            guard error.kind == .invalidGrant else { throw error }
            return nil
        }
        switch outcome {
        case .success(let opened): return try await code(opened, step)
        case .failure(let refusal):
            step.needsSecondFactor =
                refusal == .secondFactorRequired || refusal == .invalidSecondFactor
            return nil
        }
    }

    private func code(
        _ opened: OpenedBrowser, _ step: ChallengeStep
    ) async throws(Problem) -> String {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(
                opened.session, after: 0, in: context.place.realm)
        }
        var browser = BrowserSession()
        for recorded in events {
            guard let event = BrowserSessionEvent(recorded) else { throw Problem(.logDamaged) }
            browser.apply(event)
        }
        let now = context.clock.now()
        let lifetime = context.place.settings[SettingCatalogue.codeLifetime]
        guard let terms = browser.terms, let nowhere = SecretDigest.of("") else {
            throw Problem(.internalError)
        }
        var code = AuthorizationCode(
            id: context.newID(), client: step.client, account: opened.account,
            browser: opened.session,
            redirect: nowhere, namesRedirect: false, challenge: step.challenge,
            scope: step.scope, resources: step.resources, authenticatedAt: terms.openedAt,
            factors: terms.factors, expiresAt: now.adding(seconds: lifetime), key: step.key,
            issuer: context.place.issuer)
        code.removals = terms.stamp.removals
        guard let text = context.mint.authorizationCode(code) else {
            throw Problem(.internalError)
        }
        return text
    }

    /// The refusal that names the missing factor, with a new `auth_session` to continue with.
    func insufficient(_ step: ChallengeStep) throws(Problem) -> Problem {
        guard let session = context.mint.seal(step.json, for: .challenge) else {
            throw Problem(.internalError)
        }
        var problem = Problem(.insufficientAuthorization)
        problem.members["auth_session"] = .string(session)
        if step.needsSecondFactor { problem.members["second_factor_required"] = true }
        return problem
    }
}
