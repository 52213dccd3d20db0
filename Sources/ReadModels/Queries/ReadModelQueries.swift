public import EventSourcing
public import EventStore
public import Postgres
internal import Values

/// Who answers questions to the read models, out of the database.
public struct ReadModelQueries: Sendable {
    let database: Database
    let hub: CommitHub
    let lines: LookUp<UUID, SessionLine>
    public let sequences: RequestSequenceStore
    let browserSessionsByID: LookUp<UUID, BrowserSessionView>
    let clientsByName: LookUp<String, ClientView>
    let passkeysByCredential: LookUp<String, PasskeyView>
    let passkeysByAccount: LookUp<UUID, [PasskeyView]>

    /// - Parameter proofs: are told what each look at the log has shown.
    public init(
        _ database: Database, hub: CommitHub, proofs: StreamProofs = StreamProofs()
    ) {
        self.database = database
        self.hub = hub
        let known = KnownSessions(hub, proofs)
        lines = LookUp(database) { connection, realm, ids in
            known.find(ids, in: realm, over: connection)
        }
        sequences = RequestSequenceStore(database)
        browserSessionsByID = LookUp(database) { connection, realm, ids in
            BrowserSessionView.ofIDs.rows(
                Parameters(in: realm, any: ids), over: connection, key: { $0.identifier($1, 1) })
        }
        clientsByName = LookUp(database) { connection, realm, names in
            ClientView.ofNames.rows(
                Parameters(in: realm, any: names), over: connection, key: { $0.text($1, 2) })
        }
        passkeysByCredential = LookUp(database) { connection, realm, credentials in
            PasskeyView.ofCredentials.rows(
                Parameters(in: realm, any: credentials), over: connection,
                key: { $0.text($1, 3) })
        }
        passkeysByAccount = LookUp(database) { connection, realm, accounts in
            PasskeyView.ofAccounts.lists(
                Parameters(in: realm, any: accounts), over: connection,
                key: { $0.identifier($1, 2) })
        }
    }

    /// A number that is another one as soon as this process can know that something of a realm
    /// changed which its configuration is read from: hosts in the system realm, settings, apps and
    /// clients elsewhere. It waits for nothing.
    public func revision(of realm: RealmID) -> Int64 { hub.configuration(of: realm) }

    func rows<Row>(
        _ query: RowQuery<Row>, _ parameters: Parameters
    ) async throws(LogFailure) -> [Row] {
        try await reading { () throws(ReadFailure) in
            try await query.rows(parameters, from: database)
        }
    }

    func list<Row>(
        _ query: RowQuery<Row>, _ parameters: Parameters
    ) async throws(LogFailure) -> ListPage<Row> {
        try await reading { () throws(ReadFailure) in
            try await query.list(parameters, from: database)
        }
    }

    /// The rows of a model that follows the log.
    func rows<Row: Sendable>(
        _ statement: Statement, _ parameters: Parameters,
        _ read: @escaping @Sendable (Rows, Int) -> Row?
    ) async throws(LogFailure) -> [Row] {
        try await reading { () throws(ReadFailure) in
            try await database.rows(statement, parameters, read)
        }
    }

    /// A row by its key, in one query for all who ask at once.
    func find<Key, Value>(
        _ key: Key, by lookUp: LookUp<Key, Value>, in realm: RealmID
    ) async throws(LogFailure) -> Value? {
        try await reading { () throws(ReadFailure) in try await lookUp.find(key, in: realm) }
    }

    /// A model that is behind is, for who asks, not available.
    func reading<Value: Sendable>(
        _ read: () async throws(ReadFailure) -> Value
    ) async throws(LogFailure) -> Value {
        do {
            return try await read()
        } catch {
            throw error.asLogFailure
        }
    }
}
