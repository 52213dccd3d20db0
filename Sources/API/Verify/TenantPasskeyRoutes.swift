internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import SecurityKeys
internal import Values

/// Passkeys in a tenant's app. They are the account's own: those that it has on the realm's pages.
enum TenantPasskeyRoutes {
    static let table: [Route<RealmContext>] = [exists, beginEnrollment, enroll, begin, finish]

    private static let identifier = Parameter(
        "identifier", in: .query, .text(0...320), "Mail address or phone number.")

    private static let exists = Route<RealmContext>(
        .get, "/api/v0/webauthn/exists", id: "hasTenantPasskey", tag: "Verify",
        summary: "Says whether a person has a passkey.",
        detail: """
            To the tenant's server, and to an app that shows an access token of that very person. All others \
            hear `false`, whether there is one or not. A sign-in may be begun all the same: the browser knows \
            which passkeys its person has.
            """,
        right: .nothing, voice: .verify, parameters: [Tenant.key, Tenant.secret, identifier],
        answer: .ok(
            "Result of the look-up.",
            .object(.required("exists", .boolean, "Whether the person has a passkey.")),
            example: ["exists": false]),
        refusals: Place.refusals + [.forbidden], traits: .forTenantScripts
    ) { call throws(Problem) in
        let (tenant, isServer) = try await call.tenantCaller()
        return try await call.answerTenant(tenant) { () throws(Problem) in
            let found = try await call.findUser(call.text("identifier") ?? "")
            let own = isServer ? found : try await call.ownUser(tenant)
            guard let found, own == found else { return .json(.ok, ["exists": false]) }
            let passkeys = try await RealmLookups(call.context).passkeys(of: found)
            return .json(.ok, ["exists": .bool(!passkeys.isEmpty)])
        }
    }

    private static let refusals: [ProblemKind] =
        Place.refusals + [.forbidden, .invalidRequest, .invalidGrant, .rateLimited]

    private static let beginning = Body(
        schema: .object(.optional("origin", .text(0...2048), "Origin of the calling page.")),
        example: ["origin": "https://www.shop.example"])

    private static let begun = Schema.object(
        .required("publicKey", .openObject, "Options for `navigator.credentials`."),
        .required(
            "ceremony_id", Fields.id, "Id of the WebAuthn ceremony, for apps without cookies."))

    private static let exampleOfBegun: JSON = [
        "publicKey": ["rpId": "shop.example"],
        "ceremony_id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10",
    ]

    private static let beginEnrollment = Route<RealmContext>(
        .post, "/api/v0/webauthn/register/begin", id: "beginTenantPasskeyEnrollment",
        tag: "Verify",
        summary: "Starts the creation of a passkey for the person of an access token.",
        detail:
            "The API key alone enrols no passkey. The person has to have signed in lately.",
        right: .nothing, voice: .verify, parameters: [Tenant.key, identifier],
        body: beginning, answer: .ok("A challenge.", begun, example: exampleOfBegun),
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            let who = try await call.passkeyOwner(tenant)
            try RateCounter(call).count(.passkeyBegin, target: who.account.description)
            let passkey = try await TenantPasskey(
                tenant, call.body["origin"]?.string ?? "", call)
            let existing = try await RealmLookups(call.context).passkeys(of: who.account)
            guard existing.count < Passkey.mostPerAccount else {
                throw Problem(.invalidRequest, "There are too many passkeys already.")
            }
            let user = try await RealmLookups(call.context).passkeyUser(who.account)
            return call.begin(passkey.enrollment(of: who.account)) {
                PasskeyOptions.creation(
                    challenge: $0, passkey.party, user: user, existing: existing,
                    namesNobody: true)
            }
        }
    }

    private static let finishing = Body(
        schema: .object(
            .optional(
                "ceremony_id", .text(0...64), "Id of the WebAuthn ceremony, if no cookie has it."),
            .optional("id", .text(0...2048), "Credential id, in base64url."),
            .optional("rawId", .text(0...2048), "Credential id, in base64url."),
            .optional("type", .text(0...32), "Credential type; always `public-key`."),
            .optional("response", .anything, "Response of the authenticator, in base64url."),
            .optional("public_key", .anything, "Public key, which is ignored."),
            .optional("identifier_type", .text(0...10), "Type of identifier, which is ignored."),
            .optional("device_type", .text(0...64), "Type of device, which is ignored."),
            .optional("device_name", .text(0...255), "Name of the device, which is ignored.")),
        example: ["id": "…", "rawId": "…", "type": "public-key", "response": [:]],
        maximumBytes: 256 * 1024)

    private static let enroll = Route<RealmContext>(
        .post, "/api/v0/webauthn/register/finish", id: "enrollTenantPasskey", tag: "Verify",
        summary: "Completes the creation of a passkey.",
        detail: "Each attempt uses the ceremony up. The account's person is told.",
        right: .nothing, voice: .verify, parameters: [Tenant.key, identifier], body: finishing,
        answer: .ok("The person.", .openObject, example: ["user": [:]]),
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            let who = try await call.passkeyOwner(tenant)
            try RateCounter(call).count(.passkeyBegin, target: who.account.description)
            let answer = try await call.finishing(tenant, by: who.account)
            do throws(Problem) {
                try await PasskeyEnrollments(call).enroll(
                    answer.id, answer.ceremony, answer.credential,
                    PasskeyEnrollment(
                        account: who.account, client: tenant.apiKey, session: who.session,
                        party: answer.party, page: tenant.apiKey), answer.party)
            } catch {
                throw TenantPasskeyRoutes.worded(error)
            }
            guard let person = try await call.verifiedPerson(who.account, for: tenant) else {
                throw Call<RealmContext>.needsSignIn
            }
            var response = Response.json(.ok, ["user": person.user(of: tenant.apiKey)])
            response.headers.append("Set-Cookie", CeremonyCookie.removal)
            return response
        }
    }

    private static let begin = Route<RealmContext>(
        .post, "/api/v0/webauthn/login/begin", id: "beginTenantPasskeySignIn", tag: "Verify",
        summary: "Starts a passkey sign-in.",
        detail:
            "It is the same for every identifier, known or not: the browser offers what it has.",
        right: .nothing, voice: .verify, parameters: [Tenant.key, identifier], body: beginning,
        answer: .ok("A challenge.", begun, example: exampleOfBegun), refusals: refusals,
        traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            let counter = RateCounter(call)
            try counter.count(.passkeyBegin, client: counter.atSource(tenant.apiKey))
            let passkey = try await TenantPasskey(
                tenant, call.body["origin"]?.string ?? "", call)
            return call.begin(passkey.signIn) {
                PasskeyOptions.request(challenge: $0, passkey.party)
            }
        }
    }

    private static let finish = Route<RealmContext>(
        .post, "/api/v0/webauthn/login/finish", id: "signInByTenantPasskey", tag: "Verify",
        summary: "Checks the passkey's signature, and gives the app tokens.",
        detail: "Each attempt uses the ceremony up.", right: .nothing, voice: .verify,
        parameters: [Tenant.key, identifier], body: finishing,
        answer: .ok("The person and tokens.", .openObject, example: ["user": [:]]),
        refusals: refusals, traits: .forTenantScripts
    ) { call throws(Problem) in
        try await call.answerTenantApp { tenant throws(Problem) in
            try RateCounter(call).count(.oauthToken)
            let answer = try await call.finishing(tenant, by: nil)
            let grant = TenantSignIn(
                PasskeyGrant(ceremony: answer.id, proof: try await call.passkeyProof(answer)),
                like: .passkey)
            let (granted, person) = try await call.openTenantSession(grant, tenant) { _ in
                Problem(.invalidGrant, "The passkey could not be verified, or is no longer.")
            }
            var members: JSONObject = ["user": person.user(of: tenant.apiKey)]
            var response = try await call.answerWithTokens(
                &members, with: granted, of: person, tenant)
            response.headers.append("Set-Cookie", CeremonyCookie.removal)
            return response
        }
    }

    fileprivate static let over = Problem(
        .invalidGrant, "This ceremony is over, or was begun elsewhere: please start again.")

    /// In the one form and the few statuses that clients of the profile know.
    private static func worded(_ problem: Problem) -> Problem {
        switch problem.kind {
        case .invalidEnrollment: Problem(.invalidGrant, problem.detail)
        case .invalidToken, .reauthenticationRequired: Call<RealmContext>.needsSignIn
        case .nativeGrantsDisabled: Problem(.invalidRequest, "This realm has no passkeys.")
        default: problem
        }
    }
}

/// What came back from an authenticator, and the ceremony that it says it is of.
private struct CeremonyAnswer {
    let id: UUID
    let credential: JSON
    let party: PasskeyParty
    var ceremony: Ceremony
}

extension Call<RealmContext> {
    /// A tenant's app, or a page of its origins.
    func answerTenantApp(
        _ work: (Tenant) async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        let tenant = try await tenant(request.headers[Tenant.keyHeader])
        return try await answerTenant(tenant) { () throws(Problem) in try await work(tenant) }
    }

    /// Who makes a passkey: the person of the access token, and of the identifier where there is one.
    fileprivate func passkeyOwner(
        _ tenant: Tenant
    ) async throws(Problem) -> (account: UUID, session: SignedIn, token: Timestamp, id: UUID) {
        let who = try await recentUser(tenant)
        if let typed = text("identifier"), !typed.isEmpty,
            try await findUser(typed) != who.account
        {
            throw Self.needsSignIn
        }
        return who
    }

    fileprivate func begin(
        _ ceremony: Ceremony, options: (_ challenge: [UInt8]) -> JSON
    ) -> Response {
        let id = context.mint.newID(of: ceremony, at: context.clock.now())
        var response = Response.json(
            .ok,
            [
                "publicKey": options(context.mint.challenge(id, ceremony)),
                "ceremony_id": .string(id.description),
            ])
        response.headers.append("Set-Cookie", CeremonyCookie.line(id))
        return response
    }

    /// What ends a ceremony of this tenant's. One of which no origin can be read, or none that the tenant
    /// lists, answers no challenge, and uses the ceremony up like any other.
    fileprivate func finishing(
        _ tenant: Tenant, by account: UUID?
    ) async throws(Problem) -> CeremonyAnswer {
        var credential: JSONObject = [:]
        for name in ["id", "rawId", "type", "response"] { credential[name] = body[name] }
        let id = body["ceremony_id"]?.string ?? request.cookie(CeremonyCookie.name)
        let party = try await TenantPasskey.party(of: tenant, self)
        let begun = TenantPasskey.ceremony(of: tenant, party, account: account)
        guard let id = id.flatMap({ UUID($0) }), context.mint.isOurs(id, begun) else {
            throw TenantPasskeyRoutes.over
        }
        var answer = CeremonyAnswer(
            id: id, credential: .object(credential), party: party, ceremony: begun)
        guard let origin = TenantPasskey.origin(ofCredential: .object(credential)) else {
            return answer
        }
        do throws(Problem) {
            let page = try await TenantPasskey(tenant, origin, self)
            answer.ceremony = account.map { page.enrollment(of: $0) } ?? page.signIn
        } catch {
            guard error.kind == .invalidRequest else { throw error }
        }
        return answer
    }

    /// That of another person than the app asked about proves nothing.
    fileprivate func passkeyProof(
        _ answer: CeremonyAnswer
    ) async throws(Problem) -> PasskeyGrant.Proof {
        let proof = try await PasskeyProofs(self).proof(
            String(decoding: answer.credential.canonical(), as: UTF8.self),
            challenge: context.mint.challenge(answer.id, answer.ceremony), answer.party)
        guard let typed = text("identifier"), !typed.isEmpty, case .verified(let use) = proof
        else { return proof }
        let owner = try await RealmLookups(context).folded(Passkey.self, use.passkey).enrolled?
            .account
        guard let owner, try await findUser(typed) == owner else {
            return .refused(reason: WebAuthnFailure.otherUser.description, account: owner)
        }
        return proof
    }

    /// Opens a session of the tenant's app.
    func openTenantSession<Proof: SignInProof>(
        _ grant: TenantSignIn<Proof>, _ tenant: Tenant,
        or problem: (GrantRefusal) -> Problem
    ) async throws(Problem) -> (granted: GrantedTokens, person: VerifiedPerson) {
        switch try await redeemByName(grant, as: tenant) {
        case .failure(.strongerSignInNeeded):
            throw Problem(
                .invalidGrant, "This service asks for a second factor (sign_in_level).")
        case .failure(let refusal): throw problem(refusal)
        case .success(let granted):
            guard let account = granted.terms.account,
                let person = try await verifiedPerson(account, for: tenant)
            else { throw Problem(.invalidGrant, "The account cannot sign in.") }
            return (granted, person)
        }
    }
}
