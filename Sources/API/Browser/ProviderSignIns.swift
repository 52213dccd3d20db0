internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A user whom a provider has named, and who has to show a second factor.
struct UpstreamStep: Sendable {
    static let lifetime: Int64 = 300

    let identity: UUID
    let upstream: UUID?
    let provider: String
    /// The delegated code that named them.
    var delegated: UUID?
    let place: String
    /// The mailed code that is asked for, if one is.
    let code: UUID?
    /// The form that it was shown in.
    let form: String
    let until: Timestamp

    var json: JSON {
        var members: JSONObject = [
            "identity": .string(identity.description), "provider": .string(provider),
            "place": .string(place), "form": .string(form), "until": .integer(until.seconds),
        ]
        members["upstream"] = upstream.map { .string($0.description) }
        members["delegated"] = delegated.map { .string($0.description) }
        members["code"] = code.map { .string($0.description) }
        return .object(members)
    }

    init(
        identity: UUID, upstream: UUID?, provider: String, place: String, code: UUID?,
        form: String, until: Timestamp
    ) {
        self.identity = identity
        self.upstream = upstream
        self.provider = provider
        self.place = place
        self.code = code
        self.form = form
        self.until = until
    }

    init?(_ json: JSON) {
        guard let identity = json["identity"]?.string.flatMap({ UUID($0) }),
            let provider = json["provider"]?.string, let place = json["place"]?.string,
            let form = json["form"]?.string, let until = json["until"]?.integer
        else { return nil }
        self.init(
            identity: identity, upstream: json["upstream"]?.string.flatMap { UUID($0) },
            provider: provider, place: place, code: json["code"]?.string.flatMap { UUID($0) },
            form: form, until: Timestamp(seconds: until))
        delegated = json["delegated"]?.string.flatMap { UUID($0) }
    }
}

/// Signs users in whom an identity provider named.
struct ProviderSignIns {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// A code to be mailed as a second factor, for the account that an identity signs in.
    func nextCode(
        for identity: UUID
    ) async throws(Problem) -> (
        account: UUID?, needsMailed: Bool, next: (id: UUID, digest: SecretDigest)
    ) {
        let account = try await RealmLookups(context).folded(ProviderIdentity.self, identity)
            .account
        let owner = try await RealmLookups(context).folded(Owner.self, Owner.stream)
        let next = context.newID()
        guard
            let digest = context.mint.digest(
                ofMailedCode: context.mint.code(next),
                in: MailedCode.stream(of: account ?? .zero, .secondFactor))
        else { throw Problem(.internalError) }
        let needsMailed = account != nil && owner.account == account && owner.needsMailedCode
        return (account, needsMailed, (next, digest))
    }

    /// Signs in whom a provider named, or asks for what is missing.
    func signIn(
        _ identity: UUID, _ upstream: UUID?, _ slug: String, delegated: UUID? = nil,
        attempt: UUID?, _ visit: PageVisit, to place: String
    ) async throws(Problem) -> Response {
        let (_, needsMailed, next) = try await nextCode(for: identity)
        if needsMailed { try RateCounter(call).countRealm(.ownerMail) }
        var proof = ProviderProof(
            identity: identity, upstream: upstream, provider: slug, sessionName: attempt,
            next: next)
        proof.delegated = delegated
        let end = try await BrowserSignIns(call).signIn(
            proof, by: .provider, visit, to: ReturnTarget(), place: place)
        switch end {
        case .signedIn(let response): return response
        case .refused(.secondFactorRequired):
            var step = UpstreamStep(
                identity: identity, upstream: upstream, provider: slug, place: place,
                code: needsMailed ? next.id : nil, form: visit.formName,
                until: context.clock.now().adding(seconds: UpstreamStep.lifetime))
            step.delegated = delegated
            return try secondPage(visit, step, isWrong: false)
        case .refused(.unknownIdentity):
            return visit.notice(
                visit.say("Not connected yet", "Noch nicht verbunden"),
                visit.say(
                    "This account is not connected to one here. Sign in another way first, then connect it under Security.",
                    "Dieses Konto ist hier mit keinem verbunden. Melden Sie sich erst anders an und verbinden Sie es dann unter „Sicherheit“."
                ), .forbidden,
                link: (visit.say("Back to sign in", "Zurück zur Anmeldung"), Self.start(of: place)))
        case .refused: return failed(visit)
        }
    }

    /// The page at which a sign-in with this return target began.
    private static func start(of place: String) -> String {
        let tenants = "/app/social?"
        guard place.utf8.starts(with: tenants.utf8) else { return "/login" }
        return "/app?" + place.dropFirst(tenants.utf8.count)
    }

    func secondPage(
        _ visit: PageVisit, _ step: UpstreamStep, isWrong: Bool
    ) throws(Problem) -> Response {
        guard let ticket = context.mint.seal(step.json, for: .upstreamStep) else {
            throw Problem(.internalError)
        }
        guard step.code != nil else {
            return SecondFactorPage.response(
                visit, isWrong, isWrong ? .badRequest : .ok, action: "/oidc/twofactor",
                leadsAway: true
            ) { Parts.hidden("ticket", ticket) }
        }
        return OwnerCodePage(
            visit: visit, action: "/oidc/twofactor", isWrong: isWrong
        ).response { Parts.hidden("ticket", ticket) }
    }

    func failed(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("That did not work", "Das hat nicht geklappt"),
            visit.say(
                "You are not signed in. Please try again.",
                "Sie sind nicht angemeldet. Bitte versuchen Sie es noch einmal."), .badRequest,
            link: (visit.say("Back to sign in", "Zurück zur Anmeldung"), "/login"))
    }
}
