public import EventSourcing
internal import JSON
public import Postgres
public import Values

/// Case files that were asked for, as rows: what they tell stands in the log alone.
public struct CaseFileStore: Sendable {
    /// So many are made at once in a realm.
    public static let mostAtOnce = 2
    public static let keptHours = 24

    private let database: Database

    public init(_ database: Database) {
        self.database = database
    }

    private func asking<Value: Sendable>(
        _ ask: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws(LogFailure) -> Value {
        do { return try await database.run(ask) } catch { throw .unavailable }
    }

    /// False where the realm has as many in the making as it may have.
    public func create(_ job: CaseFileJob) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.transaction { connection throws(Failure) in
                // One after the other: each counts those before it.
                try connection.execute(locking, Parameters(realm: job.realm.name))
                var parameters = Parameters(in: job.realm, job.id)
                parameters.add(job.asker)
                parameters.add(json: job.question.json.canonical())
                parameters.add(Int32(clamping: job.epoch))
                parameters.add(time: job.askedAt.microseconds)
                return try connection.execute(creating, parameters).changed == 1
            }
        }
    }

    public func job(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> CaseFileJob? {
        try await asking { connection throws(Failure) in
            CaseFileJob.all(try connection.execute(reading, Parameters(in: realm, id))).first
        }
    }

    /// Whether there was anything to end.
    @discardableResult
    public func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.execute(cancelling, Parameters(in: realm, id)).changed == 1
        }
    }

    /// One that nobody makes, for this maker alone.
    /// - Parameter id: this one; nil for the oldest.
    public func claim(
        _ id: UUID? = nil, by maker: UUID
    ) async throws(LogFailure) -> CaseFileJob? {
        try await asking { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(maker)
            parameters.add(id)
            return CaseFileJob.all(try connection.execute(claiming, parameters)).first
        }
    }

    /// Keeps how far it is, and the maker's lease.
    /// - Returns: false where it was cancelled, or another makes it.
    public func save(
        _ progress: CaseProgress, of job: CaseFileJob, by maker: UUID
    ) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.execute(saving, Parameters(progress, of: job, by: maker)).changed == 1
        }
    }

    /// - Parameter fault: why there is none; nil where it is ready.
    public func finish(
        _ job: CaseFileJob, _ progress: CaseProgress, by maker: UUID, fault: CaseFileJob.Fault?
    ) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(progress, of: job, by: maker)
            parameters.add(fault?.rawValue)
            return try connection.execute(finishing, parameters).changed == 1
        }
    }

    /// Of those that nobody can have any more. They are spoken of for a week.
    public func forgetOld() async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            _ = try connection.execute(forgetting, Parameters())
        }
    }
}

extension Parameters {
    fileprivate init(_ progress: CaseProgress, of job: CaseFileJob, by maker: UUID) {
        self.init(in: job.realm, job.id)
        add(maker)
        add(bytes: progress.checkpoint)
        add(progress.position)
        add(bytes: progress.chain)
        add(progress.lines)
        add(progress.records)
        add(progress.opened)
    }
}

extension CaseFileJob {
    fileprivate static func all(_ rows: Rows) -> [CaseFileJob] {
        (0..<rows.count).compactMap { row in
            guard let realm = RealmID(rows.text(row, 0)),
                let state = State(rawValue: rows.text(row, 2)),
                let question = CaseQuestion(rows.bytes(row, 4))
            else { return nil }
            var progress = CaseProgress()
            progress.checkpoint = rows.isNull(row, 7) ? [] : rows.bytes(row, 7)
            progress.position = rows.int64(row, 8)
            if !rows.isNull(row, 9) { progress.chain = rows.bytes(row, 9) }
            progress.lines = rows.int64(row, 10)
            progress.records = rows.int64(row, 11)
            progress.opened = rows.int64(row, 12)
            return CaseFileJob(
                realm: realm, id: rows.identifier(row, 1), asker: rows.text(row, 3),
                question: question, epoch: rows.integer(row, 5), askedAt: rows.instant(row, 6),
                state: state, fault: rows.optionalText(row, 13).flatMap(Fault.init),
                progress: progress, finishedAt: rows.optionalInstant(row, 14),
                isExpired: rows.bool(row, 15))
        }
    }
}

private let columns = """
    c.realm, c.id, c.state, c.asker, c.question::text, c.epoch, c.asked_at, c.checkpoint, c.position,
        c.chain, c.lines, c.records, c.opened, c.fault, c.finished_at,
        coalesce(c.finished_at < now() - interval '\(CaseFileStore.keptHours) hours', false)
    """
/// How long a maker that vanished keeps others out.
private let term = "interval '15 seconds'"
private let locking = Statement(
    "case_file_lock", "select pg_advisory_xact_lock(hashtextextended('urd case file ' || $1, 0))")
private let creating = Statement(
    "case_file_create",
    """
    insert into urd.case_file (realm, id, asker, question, epoch, asked_at)
    select $1, $2, $3, $4, $5, $6
    where (select count(*) from urd.case_file c
        where c.realm = $1 and c.state in ('waiting', 'running')) < \(CaseFileStore.mostAtOnce)
    on conflict do nothing
    """)
private let reading = Statement(
    "case_file_read",
    "select \(columns) from urd.case_file c where c.realm = $1 and c.id = $2")
private let cancelling = Statement(
    "case_file_cancel",
    """
    update urd.case_file set state = 'cancelled', finished_at = now(), leased_by = null
    where realm = $1 and id = $2 and state in ('waiting', 'running', 'ready')
    """)
private let claiming = Statement(
    "case_file_claim",
    """
    update urd.case_file c set state = 'running', leased_by = $1, lease_until = now() + \(term)
    where (c.realm, c.id) = (
        select o.realm, o.id from urd.case_file o
        where o.state in ('waiting', 'running') and ($2::uuid is null or o.id = $2)
            and (o.lease_until is null or o.lease_until < now())
        order by o.asked_at limit 1 for update skip locked)
    returning \(columns)
    """)
private let progressColumns = """
    checkpoint = nullif($4, ''::bytea), position = $5, chain = $6, lines = $7, records = $8,
        opened = $9
    """
private let saving = Statement(
    "case_file_save",
    """
    update urd.case_file set \(progressColumns), lease_until = now() + \(term)
    where realm = $1 and id = $2 and leased_by = $3 and state = 'running'
    """)
private let finishing = Statement(
    "case_file_finish",
    """
    update urd.case_file set \(progressColumns),
        state = case when $10::text is null then 'ready' else 'failed' end, fault = $10,
        finished_at = now(), leased_by = null
    where realm = $1 and id = $2 and leased_by = $3 and state = 'running'
    """)
private let forgetting = Statement(
    "case_file_forget",
    "delete from urd.case_file c where c.finished_at < now() - interval '7 days'")
