public import EventSourcing
public import JSON
public import Values

/// Sets the claims that the tokens of a session carry from now on, after every refresh.
public struct SetTokenClaims: TimedCommand {
    public var session: UUID
    /// The tenant's client.
    public var client: UUID
    public var claims: JSONObject
    public var now: Timestamp

    public init(session: UUID, client: UUID, claims: JSONObject, now: Timestamp) {
        self.session = session
        self.client = client
        self.claims = claims
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no such session of the client, or none any more.
        case notFound
        /// More than headers of requests bear, or deeper than verifiers read.
        case tooLong
    }

    /// In bytes, as JSON.
    public static let limit = 2_048
    /// How deep a claim may nest.
    public static let depth = 8

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Session>
        let claims: Versioned<TokenClaims>
        let account: Versioned<Account>?

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm: InRealm<Session> = try await .read(session, from: streams)
        var account: Versioned<Account>?
        if let holder = inRealm.thing.state.terms?.account {
            account = try await streams.read(Account.self, holder)
        }
        return Facts(
            inRealm: inRealm,
            claims: try await streams.read(TokenClaims.self, TokenClaims.stream(of: session)),
            account: account)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let state = facts.inRealm.thing.state
        guard let terms = state.terms, terms.client == client, state.end == nil,
            now < terms.expiresAt, let account = facts.account, account.isWelcome,
            account.state.keeps(terms)
        else { throw .notFound }
        guard JSON.object(claims).canonical().count <= Self.limit,
            JSON.object(claims).isNested(within: Self.depth)
        else { throw .tooLong }
        guard facts.claims.state.claims != claims else { return Decision() }
        return Decision(
            TokenClaimsEvent.set(
                session: session, account: account.stream, client: client, claims),
            in: facts.claims.stream)
    }
}

extension JSON {
    fileprivate func isNested(within depth: Int) -> Bool {
        switch self {
        case .array(let elements):
            depth > 0 && elements.allSatisfy { $0.isNested(within: depth - 1) }
        case .object(let members):
            depth > 0 && members.values.allSatisfy { $0.isNested(within: depth - 1) }
        default: true
        }
    }
}
