public import EventSourcing
public import Postgres
internal import Synchronization
public import Values

/// The replay guard of signed requests: how far the numbers of each token's requests have come. They move with
/// each request, and stand in no log.
///
/// Requests that come at the same time are guarded by one statement and one commit.
public final class RequestSequenceStore: Sendable {
    struct Use: Hashable, Sendable {
        let token: UUID
        let sequence: Int64
        /// Two requests with the same number are two, and one of them is a replay.
        let request: Int64
    }

    private let database: Database
    private let uses: LookUp<Use, Bool>
    private let requests = RequestNumbers()

    public init(_ database: Database) {
        self.database = database
        uses = LookUp(database, atOnce: 2) { connection, realm, keys in
            Self.advance(keys, in: realm, over: connection)
        }
    }

    /// Takes a number for a token. False: that number or a higher one was used (replay).
    public func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        do {
            return try await uses.find(use(token, sequence), in: realm) ?? false
        } catch {
            throw error.asLogFailure
        }
    }

    /// The same operation for callers that do not wait.
    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID,
        then use: @escaping @Sendable (Result<Bool?, ReadFailure>) -> Void
    ) {
        uses.find(self.use(token, sequence), in: realm, then: use)
    }

    private func use(_ token: UUID, _ sequence: Int64) -> Use {
        Use(token: token, sequence: sequence, request: requests.next())
    }

    static func advance(
        _ uses: [Use], in realm: RealmID, over connection: Connection
    ) -> Result<[Use: Result<Bool, ReadFailure>], ReadFailure> {
        var highest: [UUID: Int64] = [:]
        for use in uses { highest[use.token] = max(use.sequence, highest[use.token] ?? .min) }
        var tokens = ArrayParameter(of: .uuid)
        var sequences = ArrayParameter(of: .int8)
        // In one order on all nodes, so that no two wait for each other.
        for (token, sequence) in highest.sorted(by: { $0.key < $1.key }) {
            tokens.append(uuid: (token.high, token.low))
            sequences.append(sequence)
        }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(tokens)
        parameters.add(sequences)
        // Whether a statement that failed took the numbers is not known: its callers try again with higher ones.
        guard let rows = try? connection.execute(advancing, parameters) else {
            return .failure(.unavailable)
        }
        // What each token had come to, where it was raised.
        var reached: [UUID: Int64] = [:]
        for row in 0..<rows.count {
            reached[rows.identifier(row, 0)] = rows.isNull(row, 1) ? .min : rows.int64(row, 1)
        }
        var taken: [Use: Result<Bool, ReadFailure>] = [:]
        for use in uses.sorted(by: { ($0.sequence, $0.request) < ($1.sequence, $1.request) }) {
            let isNew = reached[use.token].map { $0 < use.sequence } ?? false
            if isNew { reached[use.token] = use.sequence }
            taken[use] = .success(isNew)
        }
        return .success(taken)
    }

    /// Remembers what a token or a device has signed without a number.
    ///
    /// - Parameters:
    ///   - most: maximum number of remembered values; further ones are refused.
    ///   - lasts: whether its key may live for good; else it has ended within a month.
    /// - Returns: false where it was shown before, or there is no room.
    public func remember(
        _ digest: [UInt8], of token: UUID, most: Int32, lasts: Bool, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        do {
            return try await database.run { connection throws(Failure) in
                var parameters = Parameters(in: realm, token)
                parameters.add(bytes: digest)
                parameters.add(most)
                parameters.add(lasts)
                return try connection.execute(remembering, parameters).bool(0, 0)
            }
        } catch {
            throw .unavailable
        }
    }

    /// Forgets the numbers of tokens that were not used for a month: what they have signed is too old by its
    /// time, however far a clock may have jumped.
    public func forgetUnused(in realm: RealmID) async throws(LogFailure) {
        do {
            try await database.run { connection throws(Failure) in
                var parameters = Parameters()
                parameters.add(realm.name)
                _ = try connection.execute(forgetting, parameters)
                _ = try connection.execute(forgettingUntimed, parameters)
            }
        } catch {
            throw .unavailable
        }
    }
}

/// Tells apart requests of one process.
private final class RequestNumbers: Sendable {
    private let last = Mutex<Int64>(0)

    func next() -> Int64 {
        last.withLock { last in
            last &+= 1
            return last
        }
    }
}

private let advancing = Statement(
    "request_sequence_advance",
    """
    insert into urd.request_sequence as s (realm, token, sequence)
    select $1, t.token, t.sequence from unnest($2, $3) as t(token, sequence)
    on conflict (realm, token) do update
        set sequence = excluded.sequence, before = s.sequence, used_on = current_date
        where s.sequence < excluded.sequence
    returning s.token, s.before
    """)

private let remembering = Statement(
    "untimed_request_remember",
    """
    select urd.remember_request(
        $1, $2, $3, $4, case when $5 then null else current_date + 31 end)
    """)

private let forgettingUntimed = Statement(
    "untimed_request_forget",
    "delete from urd.untimed_request u where u.realm = $1 and u.forget_on < current_date")

private let forgetting = Statement(
    "request_sequence_forget",
    "delete from urd.request_sequence s where s.realm = $1 and s.used_on < current_date - 30"
)
