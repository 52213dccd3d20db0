public import EventSourcing
public import Identity
internal import JSON
internal import Postgres
public import Values

/// A session with what decides whether its tokens are good.
public struct SessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: SessionTerms
    /// The number of the refresh token that is good now.
    public var generation: Int
    /// The time of the last token refresh, if any.
    public var refreshedAt: Timestamp?
    /// It ended before its time: by itself, or because its account, its client or its realm may not
    /// go on.
    public var isOver: Bool

    public init(
        id: UUID, terms: SessionTerms, generation: Int, refreshedAt: Timestamp? = nil,
        isOver: Bool
    ) {
        self.id = id
        self.terms = terms
        self.generation = generation
        self.refreshedAt = refreshedAt
        self.isOver = isOver
    }

    private init?(_ rows: Rows, _ row: Int) {
        guard let fields = rows.terms(row, account: 2, 3),
            let terms = SessionTerms(recorded: fields)
        else { return nil }
        self.init(
            id: rows.identifier(row, 1), terms: terms, generation: rows.integer(row, 4),
            refreshedAt: rows.optionalInstant(row, 6), isOver: rows.bool(row, 5))
    }
}

/// A session, and those that it ends with: of one moment.
public struct SessionLine: Sendable {
    public let session: SessionView
    /// The sessions above it, and those above these; sessions that were never opened are left out.
    public let above: [UUID: SessionView]

    public init(session: SessionView, above: [UUID: SessionView]) {
        self.session = session
        self.above = above
    }

    static func from(
        _ session: SessionView, in found: [UUID: Result<SessionView, ReadFailure>]
    ) -> Result<SessionLine, ReadFailure> {
        var above: [UUID: SessionView] = [:]
        var names = session.above
        while let name = names.popLast() {
            guard above[name] == nil else { continue }
            switch found[name] {
            case .success(let view):
                above[name] = view
                names += view.above
            case .failure(let failure): return .failure(failure)
            case nil: continue
            }
        }
        return .success(SessionLine(session: session, above: above))
    }
}

extension SessionView {
    /// What a token was exchanged for ends with it, a token of the federation profile with all above it, and what came
    /// of a web view with the session that opened that.
    public var above: [UUID] {
        (terms.exchange.map { [$0.origin] } ?? []) + (terms.federation?.superiors ?? [])
            + (terms.opener?.session.map { [$0] } ?? [])
    }
}

extension SessionLine {
    /// Sessions that have ended are found as well.
    public static let bySession = Question<UUID, SessionLine?>("session_line") {
        models, realm, session throws(LogFailure) in
        try await models.find(session, by: models.lines, in: realm)
    }
}

extension ReadModelQueries {
    /// The session of a request that is signed by its key, and whose sequence number is used up by that. Nil: the signature is
    /// missing, or that number or a higher one was used up before. Both queries are sent one after the other, and the caller
    /// is woken once.
    public func line(
        of session: UUID, signing sequence: Int64, in realm: RealmID,
        isRight: @escaping @Sendable (SessionView) -> Bool
    ) async throws(LogFailure) -> SessionLine? {
        let answer = await unsafe withUnsafeContinuation {
            (waiter: UnsafeContinuation<Result<SessionLine?, ReadFailure>, Never>) in
            lines.find(session, in: realm) { found in
                guard case .success(let line?) = found, isRight(line.session) else {
                    return unsafe waiter.resume(returning: found.map { _ in nil })
                }
                sequences.advance(session, to: sequence, in: realm) { taken in
                    unsafe waiter.resume(returning: taken.map { $0 == true ? line : nil })
                }
            }
        }
        return try await reading { () throws(ReadFailure) in try answer.get() }
    }
}

extension SessionView {
    /// As the read models have them. Every one that has a say must be where the log is.
    static let byID = RowQuery(
        "session_by_id",
        """
        select p.current and a.current and c.current and r.current,
            s.session, s.account, s.terms::text, s.generation,
            s.ended is not null
                or s.account is not null and not coalesce((
                    select not x.disabled and x.stamp = (s.terms ->> 'stamp')::bigint
                        and \(movesHold()) and \(AccessRule.keeps("x.removed", "s.terms"))
                    from urd.accounts x where x.realm = $1 and x.account = s.account), false)
                or not coalesce((
                    select not x.disabled from urd.clients x
                    where x.realm = $1 and x.client = (s.terms ->> 'client')::uuid), false)
                or not coalesce((
                    select not x.disabled from urd.realms x where x.realm = $1), false),
            s.refreshed_at
        from urd.sessions_position p
        join urd.accounts_position a on a.realm = p.realm
        join urd.clients_position c on c.realm = p.realm
        join urd.realms_position r on r.realm = p.realm
        left join urd.sessions s on s.realm = $1 and s.session = any ($2)
        where p.realm = $1
        """, Self.init)
}

/// The replay guard of requests that a token has signed.
extension ReadModelQueries {
    public func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        try await sequences.advance(token, to: sequence, in: realm)
    }

    public func remember(
        _ digest: [UInt8], of token: UUID, most: Int32, lasts: Bool, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        try await sequences.remember(digest, of: token, most: most, lasts: lasts, in: realm)
    }
}
