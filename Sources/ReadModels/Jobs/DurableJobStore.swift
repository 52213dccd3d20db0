public import EventSourcing
public import EventStore
internal import JSON
public import Postgres
public import Values

/// Jobs of a kind as rows.
public struct DurableJobStore<Kind: JobKind>: Sendable {
    public typealias Job = DurableJob<Kind>

    /// So many are made at once in a realm.
    public static var mostAtOnce: Int { 2 }
    public static var keptHours: Int { 24 }

    let database: Database
    private let hub: CommitHub?
    private let statements = JobStatements(Kind.self)

    /// - Parameter hub: where this process makes them: one that is asked for ends the rest of who does.
    public init(_ database: Database, hub: CommitHub? = nil) {
        self.database = database
        self.hub = hub
    }

    func asking<Value: Sendable>(
        _ ask: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws(LogFailure) -> Value {
        do { return try await database.run(ask) } catch { throw .unavailable }
    }

    public func hasRoom(in realm: RealmID) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.execute(statements.counting, Parameters(realm: realm.name)).bool(0, 0)
        }
    }

    /// False where the realm has as many in the making as it may have.
    public func create(_ job: Job) async throws(LogFailure) -> Bool {
        let isTaken = try await asking { connection throws(Failure) in
            try connection.transaction { connection throws(Failure) in
                // One after the other: each counts those before it.
                try connection.execute(statements.locking, Parameters(realm: job.realm.name))
                var parameters = Parameters(in: job.realm, job.id)
                parameters.add(job.asker)
                parameters.add(json: job.question.json.canonical())
                parameters.add(Int32(clamping: job.epoch))
                parameters.add(time: job.askedAt.microseconds)
                return try connection.execute(statements.creating, parameters).changed == 1
            }
        }
        if isTaken { hub?.stir() }
        return isTaken
    }

    public func job(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Job? {
        try await asking { connection throws(Failure) in
            Job.all(try connection.execute(statements.reading, Parameters(in: realm, id))).first
        }
    }

    /// Whether there was a job to end.
    @discardableResult
    public func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.execute(statements.cancelling, Parameters(in: realm, id)).changed == 1
        }
    }

    /// A job without a maker, leased to this maker.
    /// - Parameter id: this one; nil for the oldest.
    public func claim(
        _ id: UUID? = nil, by maker: UUID
    ) async throws(LogFailure) -> Job? {
        try await asking { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(maker)
            parameters.add(id)
            return Job.all(try connection.execute(statements.claiming, parameters)).first
        }
    }

    /// Keeps how far it is, and the maker's lease.
    /// - Returns: false where the job was cancelled, or another node has the lease.
    public func save(
        _ progress: Kind.Progress, of job: Job, by maker: UUID
    ) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            let parameters = Parameters(progress, of: job, by: maker)
            return try connection.execute(statements.saving, parameters).changed == 1
        }
    }

    /// - Parameter fault: why there is none; nil where it is ready.
    public func finish(
        _ job: Job, _ progress: Kind.Progress, by maker: UUID, fault: Kind.Fault?
    ) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(progress, of: job, by: maker)
            parameters.add(fault?.rawValue)
            return try connection.execute(statements.finishing, parameters).changed == 1
        }
    }

    /// Drops results that can no longer be fetched. Their jobs are listed for a week.
    public func forgetOld() async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            _ = try connection.execute(statements.forgetting, Parameters())
        }
    }
}

extension Parameters {
    fileprivate init<Kind>(
        _ progress: Kind.Progress, of job: DurableJob<Kind>, by maker: UUID
    ) {
        self.init(in: job.realm, job.id)
        add(maker)
        progress.add(to: &self)
    }
}

extension DurableJob {
    fileprivate static func all(_ rows: Rows) -> [DurableJob] {
        (0..<rows.count).compactMap { row in
            guard let realm = RealmID(rows.text(row, 0)),
                let state = State(rawValue: rows.text(row, 2)),
                let question = Kind.Question(rows.bytes(row, 4))
            else { return nil }
            return DurableJob(
                realm: realm, id: rows.identifier(row, 1), asker: rows.text(row, 3),
                question: question, epoch: rows.integer(row, 5), askedAt: rows.instant(row, 6),
                state: state, fault: rows.optionalText(row, 7).flatMap(Fault.init),
                progress: Kind.Progress(rows, row, from: 10),
                finishedAt: rows.optionalInstant(row, 8), isExpired: rows.bool(row, 9))
        }
    }
}

/// The statements of one kind.
private struct JobStatements: Sendable {
    let locking, counting, creating, reading, cancelling, claiming, saving, finishing,
        forgetting: Statement

    /// A row that only the application locks, until the transaction ends.
    private static func lockingRow(_ name: String) -> String {
        """
        insert into urd.lock_row (name) values ('\(name) ' || $1)
        on conflict (name) do update set name = excluded.name
        """
    }

    init<Kind: JobKind>(_ kind: Kind.Type) {
        let table = "urd.\(kind.table)"
        // How long a maker that vanished keeps others out.
        let term = "interval '15 seconds'"
        let columns = """
            c.realm, c.id, c.state, c.asker, c.question::text, c.epoch, c.asked_at, c.fault, c.finished_at,
                coalesce(c.finished_at
                    < now() - interval '\(DurableJobStore<Kind>.keptHours) hours', false)
            """
        let hasRoom = """
            (select count(*) from \(table) c where c.realm = $1 and c.state in ('waiting', 'running'))
                < \(DurableJobStore<Kind>.mostAtOnce)
            """
        let ours = "realm = $1 and id = $2 and leased_by = $3 and state = 'running'"
        func statement(_ name: String, _ text: String) -> Statement {
            Statement("\(kind.table)_\(name)", text)
        }
        locking = statement("lock", Self.lockingRow(kind.lock))
        creating = statement(
            "create",
            """
            insert into \(table) (realm, id, asker, question, epoch, asked_at)
            select $1, $2, $3, $4, $5, $6
            where \(hasRoom) on conflict do nothing
            """)
        counting = statement("count", "select \(hasRoom)")
        reading = statement(
            "read",
            """
            select \(columns), \(Kind.Progress.columns) from \(table) c
            where c.realm = $1 and c.id = $2
            """)
        cancelling = statement(
            "cancel",
            """
            update \(table) set state = 'cancelled', finished_at = now(), leased_by = null
            where realm = $1 and id = $2 and state in ('waiting', 'running', 'ready')
            """)
        claiming = statement(
            "claim",
            """
            update \(table) c set state = 'running', leased_by = $1, lease_until = now() + \(term)
            where (c.realm, c.id) = (
                select o.realm, o.id from \(table) o
                where o.state in ('waiting', 'running') and ($2::uuid is null or o.id = $2)
                    and (o.lease_until is null or o.lease_until < now())
                order by o.asked_at limit 1 for update skip locked)
            returning \(columns), \(Kind.Progress.makersColumns)
            """)
        saving = statement(
            "save",
            """
            update \(table) set \(Kind.Progress.assignments), lease_until = now() + \(term)
            where \(ours)
            """)
        let fault = "$\(Kind.Progress.width + 4)"
        finishing = statement(
            "finish",
            """
            update \(table) set \(Kind.Progress.assignments),
                state = case when \(fault)::text is null then 'ready' else 'failed' end,
                fault = \(fault), finished_at = now(), leased_by = null
            where \(ours)
            """)
        forgetting = statement(
            "forget", "delete from \(table) c where c.finished_at < now() - interval '7 days'")
    }
}
