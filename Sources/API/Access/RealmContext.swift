public import EventSourcing
public import HTTP
public import Identity
public import ReadModels
public import Values

/// What the routes of a realm stand on: made for each request, for its host decides the realm.
public final class RealmContext: RouteContext {
    let place: Place
    let mint: TokenMint
    /// Shows the realm's own time: every decision here, by a command or by a signature alone, is
    /// taken at it.
    let clock: Clock
    /// What pages ask about the request of an application that they stand in the middle of.
    let applicationRequests: any ApplicationRequests
    let shared: Shared

    init(
        place: Place, mint: TokenMint, shared: Shared,
        applicationRequests: any ApplicationRequests = NoApplicationRequests()
    ) {
        self.applicationRequests = applicationRequests
        self.place = place
        self.mint = mint
        self.shared = shared
        clock = shared.clock.showing(shared.time, of: place.realm)
    }

    public var owner: (any PageOwner)? { place }
    var rates: RateTable { place.rates }
    var keys: TokenKeys { shared.keys }
    var clients: KnownClients { shared.clients }
    var passkeys: KnownPasskeys { shared.passkeys }
    var remoteKeys: RemoteKeys { shared.remoteKeys }
    var upstream: Upstream { shared.upstream }
    var commands: any CommandPort { shared.commands }
    var queries: any RealmQueries { shared.queries }
    var limits: RateLimits { shared.limits }
    var passphrases: PassphraseWork { shared.passphrases }

    /// Where an address is, where that is known.
    public typealias Locate = @Sendable (IPAddress) -> GeoLocation?

    /// What all realms and requests have in common.
    final class Shared: Sendable {
        let keys: TokenKeys
        let clients: KnownClients
        let providers: KnownProviders
        let passkeys = KnownPasskeys()
        let remoteKeys: RemoteKeys
        let upstream: Upstream
        let refusals = RefusedClientCounters()
        let replayableResponses: ReplayableResponses
        let commands: any CommandPort
        let queries: any RealmQueries
        let limits: RateLimits
        let clock: Clock
        let time: RealmTime
        let passphrases: PassphraseWork
        let locate: Locate

        init(
            keys: TokenKeys, clients: KnownClients, remoteKeys: RemoteKeys, upstream: Upstream,
            commands: any CommandPort, queries: any RealmQueries, clock: Clock,
            passphrases: PassphraseWork, limits: RateLimits, locate: @escaping Locate
        ) {
            self.limits = limits
            self.locate = locate
            self.keys = keys
            replayableResponses = ReplayableResponses(passed: clock.passed)
            self.clients = clients
            providers = KnownProviders(commands.events, revision: keys.revision)
            self.remoteKeys = remoteKeys
            self.upstream = upstream
            self.commands = commands
            self.queries = queries
            self.clock = clock
            time = RealmTime(clock, commands.events)
            self.passphrases = passphrases
        }
    }

    /// The time, the time that only goes on, and the pause before an answer that must not tell by its
    /// speed what was found.
    public struct Clock: Sendable {
        let now: @Sendable () -> Timestamp
        public let passed: @Sendable () -> Duration
        let hesitate: @Sendable (_ atMost: Duration) async -> Void

        public init(
            now: @escaping @Sendable () -> Timestamp,
            passed: @escaping @Sendable () -> Duration,
            hesitate: @escaping @Sendable (_ atMost: Duration) async -> Void = { longest in
                let (seconds, attoseconds) = longest.components
                let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
                guard microseconds > 0 else { return }
                let chosen = Int64.random(in: microseconds / 3...microseconds)
                try? await Task.sleep(for: .microseconds(chosen))
            }
        ) {
            self.now = now
            self.passed = passed
            self.hesitate = hesitate
        }

        func showing(_ time: RealmTime, of realm: RealmID) -> Clock {
            Clock(now: { time.now(in: realm) }, passed: passed, hesitate: hesitate)
        }
    }

    public enum Caller: Sendable {
        case nobody
        case client(PresentClient)
        case account(UUID, SessionView, scope: [String], audience: [String])
        case service(SessionView, scope: [String], until: Timestamp)

        /// The client, where the route asks for one.
        var client: PresentClient {
            get throws(Problem) {
                guard case .client(let client) = self else { throw Problem(.invalidClient) }
                return client
            }
        }

        /// Whose access token it is, and the session that it belongs to, where the route asks for an account.
        var signedIn: (account: UUID, session: SessionView) {
            get throws(Problem) {
                guard case .account(let account, let session, _, _) = self else {
                    throw Problem(.unauthenticated)
                }
                return (account, session)
            }
        }
    }

    public func admit(
        _ request: Request, to route: Outline, realm: RealmID?, client: ClientCredentials?
    ) async throws(Problem) -> Caller {
        switch route.right {
        case .nothing: return .nobody
        case .client:
            do throws(RefusedClaim) {
                return .client(try await authenticate(client, for: request, at: route.traits))
            } catch {
                guard error.problem.kind == .invalidClient else { throw error.problem }
                // A client's own rate is for the client alone: no other caller can use it up.
                try countSource()
                record(error, in: request)
                throw error.problem
            }
        case .bearer:
            let token = try await bearer(of: request, at: route.traits)
            try await requireForUs(token)
            return try holder(of: token)
        case .account:
            let token = try await bearer(of: request, at: route.traits)
            let caller = try holder(of: token)
            try await requireOwnApp(token)
            return caller
        case .service:
            let token = try await bearer(of: request, at: route.traits)
            guard token.isFor(place.issuer) else { throw Problem(.invalidToken) }
            guard token.session.terms.account == nil else { throw Problem(.forbidden) }
            return .service(token.session, scope: token.scope, until: token.expiresAt)
        // Realms are managed through the admin API.
        case .realm, .everything: throw Problem(.forbidden)
        }
    }
}

extension RealmContext {
    /// Asks the read models of its realm.
    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input
    ) async throws(Problem) -> Answer {
        try await reading { () throws(LogFailure) in
            try await queries.ask(question, input, in: place.realm)
        }
    }

    /// The request of an application that a page is in the middle of, by what was sealed alone.
    func pendingRequest(_ sealed: String) -> PendingRequest? {
        applicationRequests.pending(sealed, in: self)
    }

    func countSource() throws(Problem) {
        try limits.count(
            .oauthToken, .init(source: Source(place.address)), in: place.realm, rates: rates,
            at: clock.passed())
    }
}

/// A client that showed that it is itself.
public struct PresentClient: Sendable {
    let id: UUID
    let clientID: String
    let proof: ClientProof
    let metadata: ClientMetadata
    /// Of the realm's configuration, where this is what the process knew already and did not look up.
    var revision: Int64?
}

extension RealmContext {
    private func holder(of token: PresentedToken) throws(Problem) -> Caller {
        guard let account = token.session.terms.account else { throw Problem(.invalidToken) }
        return .account(
            account, token.session, scope: token.scope, audience: token.audience)
    }

    /// Account self-service needs an app of the realm's own, which is one that may sign people in
    /// by itself: a token of any other client says who the user is and must not be good for a
    /// passkey, a second factor or the account's end.
    private func requireOwnApp(_ token: PresentedToken) async throws(Problem) {
        guard token.isOfSignIn(place.issuer) else { throw Problem(.invalidToken) }
        guard try await isOfOwnApp(token.session.terms) else { throw Problem(.forbidden) }
    }

    private func isOfOwnApp(_ terms: SessionTerms) async throws(Problem) -> Bool {
        if terms.method?.isNative == true { return true }
        guard terms.method == .authorizationCode else { return false }
        let client = try await reading { () throws(LogFailure) in
            try await clients.recent(terms.clientID, in: place.realm)
        }
        return client?.id == terms.client
            && client?.metadata.grantTypes.contains(where: \.isNative) == true
    }

    /// An access token for another resource alone is in the hands of a resource server that must not learn of
    /// its person here (RFC 9068 section 4). The realm's own apps read here what their person may do at the resources of their one
    /// token: see decision 0041.
    private func requireForUs(_ token: PresentedToken) async throws(Problem) {
        if token.isFor(place.issuer) { return }
        guard try await isOfOwnApp(token.session.terms) else {
            throw Problem(
                .invalidToken,
                "The token is for another resource: ask for one whose resource is the issuer as well."
            )
        }
    }

    /// The access token of a request (RFC 6750), in the header and nowhere else.
    private func bearer(
        of request: Request, at traits: RouteTraits
    ) async throws(Problem) -> PresentedToken {
        let lines = request.headers.all("Authorization")
        let tokens = traits.contains(.takesTokenInForm) ? formTokens(of: request) : []
        // RFC 6750 section 2: a caller who shows two tokens may mean either.
        guard tokens.count <= 1, tokens.isEmpty || lines.isEmpty else {
            throw Problem(.invalidRequest, "The access token is shown more than once.")
        }
        let shown: (scheme: TokenScheme, text: String)?
        if let line = lines.first {
            shown = lines.count == 1 ? TokenScheme.read(line) : nil
        } else if let token = tokens.first {
            shown = (.bearer, token)
        } else {
            throw Problem(.unauthenticated)
        }
        guard let (scheme, text) = shown, text.utf8.count <= Self.longestToken,
            let token = try await present(text)
        else { throw Problem(.invalidToken) }
        try await requireProof(
            of: token, text, shownAs: scheme, request, for: ownCall(request))
        return token
    }

    /// OpenID Connect Core section 5.3.1: user info alone takes a token in a form, byte for byte.
    private func formTokens(of request: Request) -> [String] {
        guard request.method == .post, let pairs = Form.parse(request.body)
        else { return [] }
        return pairs.filter { $0.name == "access_token" }.map(\.value)
    }

    /// The pause before an answer that must not tell by its speed what was found.
    func hesitate() async {
        await clock.hesitate(.milliseconds(place.settings[SettingCatalogue.uniformDelay]))
    }

    /// The session of an access token, while both are good.
    func live(_ token: TokenMint.AccessToken) async throws(Problem) -> SessionView? {
        guard clock.now() < token.expiresAt else { return nil }
        return try await live(token.session)
    }

    private func isRegistered(_ app: UUID) async throws(Problem) -> Bool {
        try await ask(WebAppView.byID, app) != nil
    }

    func live(_ session: UUID) async throws(Problem) -> SessionView? {
        guard let line = try await ask(SessionLine.bySession, session) else { return nil }
        return try await live(line)
    }

    /// The session of a line, while it is good.
    func live(_ line: SessionLine) async throws(Problem) -> SessionView? {
        try await live(line.session, in: line) ? line.session : nil
    }

    private func live(
        _ found: SessionView, in line: SessionLine
    ) async throws(Problem) -> Bool {
        guard !found.isOver, clock.now() < found.terms.expiresAt,
            found.terms.isTrusted(in: place.settings)
        else { return false }
        for id in found.above {
            guard let above = line.above[id], try await live(above, in: line) else { return false }
        }
        // What a certified installation has sleeps while its certification is taken back.
        if found.terms.needsCertification, try await !isCertified(found.terms.client) {
            return false
        }
        if let opener = found.terms.opener, try await !isThere(opener) { return false }
        // So does what an app was given that the realm no longer has.
        guard let app = found.terms.webApp else { return true }
        return try await isRegistered(app)
    }
}
