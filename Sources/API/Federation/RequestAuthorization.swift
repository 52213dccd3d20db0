internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// Whose token signed a request.
struct FederatedCaller {
    let session: SessionView
    let token: FederatedToken
    /// When its session was asked for.
    let began: ContinuousClock.Instant

    var account: UUID {
        get throws(Problem) {
            guard let account = session.terms.account else { throw Problem(.forbidden) }
            return account
        }
    }

    /// As the log names them.
    var commandCaller: Commands.Caller {
        if let account = session.terms.account {
            return .user(account, client: session.terms.clientID)
        }
        return .client(session.terms.clientID)
    }
}

/// Requests that are signed by the key of a token: by a MAC in the header, or by a JWT that was made for them. Each
/// has a number that is higher than those before it, which the replay guard takes on all nodes.
struct RequestAuthorization {
    private let call: Call<RealmContext>
    private var context: RealmContext { call.context }
    private var request: Request { call.request }

    /// How far the clocks may be apart, in seconds.
    static let leeway: Int64 = 300

    init(_ call: Call<RealmContext>) { self.call = call }

    /// The caller, where its token is one of these.
    func caller(_ holders: FederatedHolder...) async throws(Problem) -> FederatedCaller {
        do throws(Problem) {
            let caller = try await signer()
            guard holders.contains(caller.token.holder) else {
                throw Problem(.forbidden, "The token is not one for this.")
            }
            return caller
        } catch {
            // An attacker who guesses signatures is slowed down; a client that signs correctly is not counted.
            if error.kind == .forbidden { try context.countSource() }
            throw error
        }
    }

    private var notGood: Problem {
        Problem(
            .forbidden, "The request is not signed by a token that is good, or was sent before.")
    }

    private func signer() async throws(Problem) -> FederatedCaller {
        let lines = request.headers.all("Authorization")
        guard let line = lines.first else { throw Problem(.unauthenticated) }
        guard lines.count == 1, let shown = AuthorizationLine(line) else { throw notGood }
        switch shown.scheme {
        case "mac":
            let request = request
            guard let mac = RequestMAC(shown.text), let sequence = mac.sequence,
                isTimely(Timestamp(microseconds: sequence)),
                let caller = try await holder(
                    of: mac.keyID, signing: sequence, { mac.isOf(request, by: $0) })
            else { throw notGood }
            return caller
        case "bearer":
            guard let token = SharedKeyToken(shown.text), UntimedTokens(call).isTimely(token),
                token.isFor(audiences), let caller = try await holder(of: token),
                try await isIssuer(token, of: caller), namesItsSigner(token, caller)
            else { throw notGood }
            return caller
        default: throw notGood
        }
    }

    private func isTimely(_ time: Timestamp) -> Bool {
        let now = context.clock.now()
        return now.adding(seconds: -Self.leeway) <= time
            && time <= now.adding(seconds: Self.leeway)
    }

    /// The number that a JWT has, or else the time when it was made. One that no time reaches soon would leave none
    /// for the requests that follow.
    func sequence(of token: SharedKeyToken) -> Int64? {
        if token.members["seq"] != nil {
            let latest = context.clock.now().adding(seconds: Self.leeway).microseconds
            return token.integer("seq").flatMap { (1...latest).contains($0) ? $0 : nil }
        }
        guard let seconds = token.integer("iat"), (0..<(1 << 40)).contains(seconds) else {
            return nil
        }
        return seconds * 1_000_000
    }

    /// Whom a JWT may be made for: the very address that is asked, or the surface as a whole.
    var audiences: Set<String> {
        let issuer = context.place.issuer
        return context.place.federationAddresses.union([issuer + request.path, issuer])
    }

    /// The app signs as its version, as its token, or as the device; with a service's token as the service, too.
    func isIssuer(_ token: SharedKeyToken, of caller: FederatedCaller) async throws(Problem) -> Bool
    {
        guard let issuer = token.text("iss") else { return false }
        if issuer == caller.session.terms.clientID || issuer == caller.token.keyID
            || context.mint.federatedDevice(issuer) == caller.token.device
        {
            return true
        }
        for superior in caller.token.superiors
        where try await context.live(superior)?.terms.clientID == issuer {
            return true
        }
        return false
    }

    /// Codes for other apps are signed by the same key, and name the other app: a request names its signer alone. Apps
    /// that write neither number nor time show one JWT as both, where the realm takes such (decision 0162).
    private func namesItsSigner(_ token: SharedKeyToken, _ caller: FederatedCaller) -> Bool {
        guard !token.isUntimed else { return true }
        let own = [
            token.text("iss"), caller.session.terms.clientID, caller.token.keyID,
            context.mint.subject(of: caller.session.terms),
        ]
        return ["sub", "client_id"].allSatisfy { name in
            guard let named = token.members[name] else { return true }
            return named.string.map { text in
                own.contains(text) || context.mint.federatedDevice(text) == caller.token.device
            } ?? false
        }
    }

    /// Whether a JWT is the one by which this very request is signed.
    func isRequest(_ token: SharedKeyToken) -> Bool {
        guard !token.isUntimed, let line = request.headers.all("Authorization").first,
            let shown = AuthorizationLine(line), let own = SharedKeyToken(shown.text)
        else { return false }
        return own.signed == token.signed
    }

    private func holder(of token: SharedKeyToken) async throws(Problem) -> FederatedCaller? {
        guard let keyID = token.keyID else { return nil }
        guard token.isUntimed else {
            guard let sequence = sequence(of: token) else { return nil }
            return try await holder(of: keyID, signing: sequence) { token.isSigned(by: $0) }
        }
        guard keyID.utf8.count == TokenMint.keyIDLength else { return nil }
        let (mint, began) = (context.mint, ContinuousClock.now)
        let line = try await context.ask(SessionLine.bySession, mint.session(ofKey: keyID))
        guard let line, isSigned(by: line.session, { token.isSigned(by: $0) }),
            try await UntimedTokens(call).isNew(token, signing: line.session)
        else { return nil }
        return try await caller(line, since: began)
    }

    private func isSigned(by session: SessionView, _ isRight: (String) -> Bool) -> Bool {
        context.mint.version { isRight($0.requestKey(session.id, session.generation)) } != nil
    }

    /// The token of a `kid`, while it is good. A request that its key has signed has used up its number, even if it
    /// is refused for another reason.
    private func holder(
        of keyID: String, signing sequence: Int64, _ isRight: @escaping @Sendable (String) -> Bool
    ) async throws(Problem) -> FederatedCaller? {
        guard keyID.utf8.count == TokenMint.keyIDLength else { return nil }
        let (mint, began) = (context.mint, ContinuousClock.now)
        let line = try await reading { () throws(LogFailure) in
            try await context.queries.line(
                of: mint.session(ofKey: keyID), signing: sequence, in: context.place.realm
            ) { session in
                mint.version { isRight($0.requestKey(session.id, session.generation)) } != nil
            }
        }
        guard let line else { return nil }
        return try await caller(line, since: began)
    }

    private func caller(
        _ line: SessionLine, since began: ContinuousClock.Instant
    ) async throws(Problem) -> FederatedCaller? {
        guard let session = try await context.live(line),
            let token = session.terms.federation, token.holder != .application,
            try await context.isFresh(session)
        else { return nil }
        return FederatedCaller(session: session, token: token, began: began)
    }

    /// Uses up the sequence number of a request whose signature is good, even if the route refuses the request.
    func advance(_ token: UUID, to sequence: Int64) async throws(Problem) {
        let isNew = try await reading { () throws(LogFailure) in
            try await context.queries.advance(token, to: sequence, in: context.place.realm)
        }
        guard isNew else { throw notGood }
    }
}

extension RealmContext {
    /// Whether the access token of a session's present number is good yet. A device's has no end.
    func isFresh(_ session: SessionView) async throws(Problem) -> Bool {
        guard session.terms.federation?.holder != .device else { return true }
        let given = session.refreshedAt ?? session.terms.openedAt
        let lifetime = try await accessLifetime(of: session.terms.clientID)
        return clock.now() < given.adding(seconds: lifetime)
    }

    private func accessLifetime(of clientID: String) async throws(Problem) -> Int64 {
        let client = try await reading { () throws(LogFailure) in
            try await clients.recent(clientID, in: place.realm)
        }
        return client?.metadata.accessTokenLifetime ?? client?.metadata.rules.accessLifetime
            ?? place.settings[SettingCatalogue.accessTokenLifetime]
    }
}
