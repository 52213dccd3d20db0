public import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// What a client is told of a session's end, and where.
public struct LogoutLetter: Sendable, Equatable {
    public let address: String
    /// A logout token (OpenID Connect Back-Channel Logout section 2.4).
    public let token: String
}

/// Makes a letter out of the event that asks for it.
public struct LogoutLetters: Sendable {
    private let mint: RealmContexts.Mints
    private let keys: TokenKeys
    private let events: any EventLog
    private let queries: any RealmQueries
    private let time: RealmTime

    public init(
        mint: @escaping RealmContexts.Mints, keys: TokenKeys, events: any EventLog,
        queries: any RealmQueries, clock: RealmContext.Clock
    ) {
        self.mint = mint
        self.keys = keys
        self.events = events
        self.queries = queries
        time = RealmTime(clock, events)
    }

    static let event = "http://schemas.openid.net/event/backchannel-logout"
    /// Lifetime of a logout token in seconds: it is sent at once, and signed anew for each attempt.
    private static let lifetime: Int64 = 120

    /// Nil where there is no client to notify any more.
    public func letter(
        at position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> LogoutLetter? {
        guard let ended = try await events.events(from: position, limit: 1, in: realm).first,
            ended.position == position
        else { throw .damaged }
        guard let order = SessionEvent(ended)?.order else { return nil }
        var terms: SessionTerms?
        for recorded in try await events.stream(ended.stream, after: 0, in: realm) {
            if case .opened(let known)? = SessionEvent(recorded) { terms = known }
        }
        guard let terms, let account = terms.account, let issuer = terms.issuer ?? order.issuer,
            let known = try await queries.ask(KnownClient.byClientID, terms.clientID, in: realm),
            let address = known.metadata.logoutURI
        else { return nil }
        let subject = try await mint(realm).subject(account, in: terms.sector)
        let now = time.now(in: realm)
        let claims: JSON = [
            "iss": .string(issuer), "aud": .string(terms.clientID),
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + Self.lifetime),
            "jti": .string(order.id.description), "sub": .string(subject),
            "sid": .string(ended.stream.description), "events": .object([Self.event: [:]]),
        ]
        let keys = try await keys.keys(of: realm)
        guard let key = keys.active[known.metadata.idTokenSignature.algorithm],
            let token = try? JWS.sign(
                claims.canonical(), by: key, type: JWTType.logoutToken.rawValue)
        else { throw .damaged }
        return LogoutLetter(address: address, token: token)
    }
}

extension SessionEvent {
    /// The notice that it asks for.
    fileprivate var order: NoticeOrder? {
        switch self {
        case .ended(_, let notice, _): notice
        case .detached(let notice): notice
        case .opened, .refreshed, .refused: nil
        }
    }
}
