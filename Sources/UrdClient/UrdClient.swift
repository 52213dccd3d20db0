public import Foundation

/// Signs a person in to a realm of Urd, from an app, without a browser: by a mailed code or link first,
/// by passkey from then on. It keeps the tokens, refreshes them when they run out, and one refresh at a
/// time is under way however many callers wait for it.
///
///     let client = UrdClient(URL(string: "https://login.example.org")!, clientID: "phone")
///     try await client.requestCode(email: "ann@example.org")
///     try await client.signIn(email: "ann@example.org", code: typed)
///     var request = URLRequest(url: api)
///     request.setValue("Bearer \(try await client.accessToken())", forHTTPHeaderField: "Authorization")
public actor UrdClient {
    public static let usualScope = ["openid", "profile", "email", "offline_access"]

    let wire: Wire
    let clientID: String
    private let store: any TokenStore
    private let now: @Sendable () -> Date
    private var refreshing: Task<Tokens, any Error>?

    /// - Parameters:
    ///   - realm: where the realm, or the app of it, answers.
    ///   - store: keeps the tokens; on a phone, the key chain.
    public init(
        _ realm: URL, clientID: String, store: any TokenStore = TokensInMemory(),
        transport: any Transport = WebTransport(), now: @escaping @Sendable () -> Date = Date.init
    ) {
        wire = Wire(realm: realm, transport: transport)
        self.clientID = clientID
        self.store = store
        self.now = now
    }

    // MARK: - By mail

    /// Has a code mailed. The response does not tell whether an account has the address.
    public func requestCode(email: String, person: NewPerson = NewPerson()) async throws {
        _ = try await wire.post(
            "/api/account/native/otp/request", json: person.members(email: email))
    }

    /// The same for a person who joins, where the realm has a route of its own for it.
    public func register(email: String, person: NewPerson = NewPerson()) async throws {
        _ = try await wire.post(
            "/api/account/native/register", json: person.members(email: email))
    }

    public func requestLink(email: String) async throws {
        _ = try await wire.post("/api/account/magic-link/request", json: ["Email": email])
    }

    /// - Parameter secondFactor: from an authenticator app, or a recovery code: asked for by
    ///   `UrdError.secondFactorNeeded`.
    public func signIn(
        email: String, code: String, secondFactor: String? = nil,
        scope: [String] = UrdClient.usualScope
    ) async throws {
        try await redeem(
            "urn:cocoar:otp", ["username": email, "otp_code": code], secondFactor, scope)
    }

    /// With the link that the person opened.
    public func signIn(
        link: URL, secondFactor: String? = nil, scope: [String] = UrdClient.usualScope
    ) async throws {
        let items = URLComponents(url: link, resolvingAgainstBaseURL: true)?.queryItems ?? []
        let found = Dictionary(items.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        guard let user = found["userId"] ?? nil, let token = found["token"] ?? nil else {
            throw UrdError.unexpectedAnswer("the link has no user or no token")
        }
        try await redeem(
            "urn:cocoar:magic", ["user_id": user, "magic_token": token], secondFactor, scope)
    }

    func redeem(
        _ grant: String, _ members: [String: String], _ secondFactor: String?, _ scope: [String]
    ) async throws {
        var form = members
        form["grant_type"] = grant
        form["client_id"] = clientID
        form["scope"] = scope.joined(separator: " ")
        form["totp_code"] = secondFactor
        let asked = now()
        let name = UUID().uuidString
        let answer: Data
        do {
            answer = try await wire.post("/connect/token", form: form, name: name)
        } catch UrdError.unreachable {
            // The answer may be what was lost: the same request under the same name has it again.
            answer = try await wire.post("/connect/token", form: form, name: name)
        }
        try await store.keep(try Tokens(answer, at: asked))
    }

    // MARK: - Tokens

    public func isSignedIn() async throws -> Bool { try await store.kept() != nil }

    /// A token that is good for a while yet.
    public func accessToken() async throws -> String {
        guard let tokens = try await store.kept() else { throw UrdError.signedOut }
        if tokens.expires > now().addingTimeInterval(30) { return tokens.access }
        return try await refresh().access
    }

    /// Gets new tokens for the old ones. Callers that ask meanwhile get the same ones.
    @discardableResult
    public func refresh() async throws -> Tokens {
        if let refreshing { return try await refreshing.value }
        let task = Task { try await self.exchange() }
        refreshing = task
        defer { refreshing = nil }
        return try await task.value
    }

    private func exchange() async throws -> Tokens {
        guard let token = try await store.kept()?.refresh else { throw UrdError.signedOut }
        let form = [
            "grant_type": "refresh_token", "client_id": clientID, "refresh_token": token,
        ]
        let asked = now()
        let answer: Data
        do {
            answer = try await wire.post("/connect/token", form: form)
        } catch UrdError.unreachable {
            // The answer may be what was lost: for a moment the same token gets the same answer.
            answer = try await wire.post("/connect/token", form: form)
        } catch let error as UrdError where error.isOver {
            try await store.keep(nil)
            throw UrdError.signedOut
        }
        let tokens = try Tokens(answer, at: asked)
        try await store.keep(tokens)
        return tokens
    }

    /// The user that is signed in.
    public func userInfo() async throws -> UserInfo {
        try decoded(await wire.get("/connect/userinfo", token: accessToken()))
    }

    /// Ends the session here and at the server. The tokens are forgotten in any case.
    public func signOut() async throws {
        guard let tokens = try await store.kept() else { return }
        try await store.keep(nil)
        _ = try await wire.post(
            "/connect/revoke",
            form: ["client_id": clientID, "token": tokens.refresh ?? tokens.access])
    }
}
