public import EventSourcing
public import EventStore
import JSON
public import Postgres
public import Values

/// Whole realms as of a moment: who asked for them, and the calls that build them (Schema/as_of_builds.sql).
public struct AsOfBuildStore: Sendable {
    /// So many are made or kept at once in a realm.
    public static let mostAtOnce = 2
    public static let keptSeconds: Int64 = 3600

    let database: Database
    /// How many positions are applied in one transaction.
    private let pageSize: Int32
    private let hub: CommitHub?

    /// - Parameter hub: where this process builds them: one that is asked for ends the rest of who does.
    public init(_ database: Database, pageSize: Int32 = 50_000, hub: CommitHub? = nil) {
        self.database = database
        self.hub = hub
        self.pageSize = pageSize
    }

    func asking<Value: Sendable>(
        _ ask: @escaping @Sendable (Connection) throws(Failure) -> Value
    ) async throws(LogFailure) -> Value {
        do { return try await database.run(ask) } catch { throw .unavailable }
    }

    /// False where the realm has as many as it may have.
    public func create(_ build: AsOfBuild) async throws(LogFailure) -> Bool {
        let isTaken = try await asking { [pageSize] connection throws(Failure) in
            try connection.transaction { connection throws(Failure) in
                // One after the other: each counts those before it.
                try connection.execute(locking, Parameters(realm: build.realm.name))
                var parameters = Parameters(in: build.realm, build.id)
                parameters.add(build.asker)
                parameters.add(build.moment)
                parameters.add(Int32(clamping: build.epoch))
                parameters.add(build.position)
                parameters.add(time: build.at?.microseconds)
                parameters.add(time: build.askedAt.microseconds)
                parameters.add(pageSize)
                return try connection.execute(creating, parameters).changed == 1
            }
        }
        if isTaken { hub?.stir() }
        return isTaken
    }

    public func build(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> AsOfBuild? {
        try await asking { connection throws(Failure) in
            let found = AsOfBuild.all(
                try connection.execute(reading, Parameters(in: realm, id))
            ).first
            guard var build = found, build.fault == .logDamaged else { return found }
            build.hole = try Self.hole(upTo: build.position, in: realm, connection)
            return build
        }
    }

    /// The first position up to this one of which the event is missing. Live rows do not show it: they were made
    /// while it was there.
    func hole(upTo position: Int64, in realm: RealmID) async throws -> Int64? {
        try await database.run { connection throws(Failure) in
            try Self.hole(upTo: position, in: realm, connection)
        }
    }

    private static func hole(
        upTo position: Int64, in realm: RealmID, _ connection: Connection
    ) throws(Failure) -> Int64? {
        var parameters = Parameters(realm: realm.name)
        parameters.add(position)
        let count = try connection.execute(counting, parameters).int64(0, 0)
        guard count < position else { return nil }
        let rows = try connection.execute(findingHole, parameters)
        return rows.isNull(0, 0) ? count + 1 : rows.int64(0, 0)
    }

    /// The builds that are being made or kept, the newest first.
    public func builds(in realm: RealmID) async throws(LogFailure) -> [AsOfBuild] {
        try await asking { connection throws(Failure) in
            AsOfBuild.all(try connection.execute(listing, Parameters(realm: realm.name)))
        }
    }

    /// Whether there was a build to end. No reader sees it from then on; its schema goes with the next sweep.
    @discardableResult
    public func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            try connection.execute(cancelling, Parameters(in: realm, id)).changed == 1
        }
    }
}

// MARK: - Making

extension AsOfBuildStore {
    /// A build without a maker, leased to this maker.
    /// - Parameter id: this one; nil for the oldest.
    public func claim(
        _ id: UUID? = nil, by maker: UUID
    ) async throws(LogFailure) -> AsOfBuild? {
        try await asking { connection throws(Failure) in
            var parameters = Parameters()
            parameters.add(maker)
            parameters.add(id)
            return AsOfBuild.all(try connection.execute(claiming, parameters)).first
        }
    }

    /// Keeps the maker's lease.
    /// - Returns: false where the build was cancelled, or another node makes it.
    public func keep(_ build: AsOfBuild, by maker: UUID) async throws(LogFailure) -> Bool {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: build.realm, build.id)
            parameters.add(maker)
            return try connection.execute(keeping, parameters).changed == 1
        }
    }

    public func fail(
        _ build: AsOfBuild, by maker: UUID, _ fault: AsOfBuild.Fault
    ) async throws(LogFailure) {
        try await asking { connection throws(Failure) in
            var parameters = Parameters(in: build.realm, build.id)
            parameters.add(maker)
            parameters.add(fault.rawValue)
            _ = try connection.execute(failing, parameters)
        }
    }

    /// Drops the schemas of builds that are expired or deleted.
    /// - Returns: the number of dropped schemas.
    @discardableResult
    public func sweep() async throws(LogFailure) -> Int {
        try await asking { connection throws(Failure) in
            try connection.execute(sweeping, Parameters()).integer(0, 0)
        }
    }
}

extension AsOfBuild {
    static func all(_ rows: Rows) -> [AsOfBuild] {
        (0..<rows.count).compactMap { row in
            guard let realm = RealmID(rows.text(row, 0)),
                let state = State(rawValue: rows.text(row, 2))
            else { return nil }
            let counts = rows.object(row, 12) ?? [:]
            return AsOfBuild(
                realm: realm, id: rows.identifier(row, 1), asker: rows.text(row, 3),
                moment: rows.text(row, 4), epoch: rows.integer(row, 5),
                position: rows.int64(row, 6), at: rows.optionalInstant(row, 7),
                askedAt: rows.instant(row, 8), state: state,
                fault: rows.optionalText(row, 9).flatMap(Fault.init),
                finishedAt: rows.optionalInstant(row, 10), reached: rows.int64(row, 11),
                counts: counts.compactMap { name, rows in
                    rows.integer.map { Count(projection: name, rows: $0) }
                })
        }
    }
}

/// An expired build is reported as such before the sweep.
private let columns = """
    b.realm, b.id, case when b.state = 'ready' and b.finished_at
            < now() - interval '\(AsOfBuildStore.keptSeconds) seconds' then 'expired' else b.state end,
        b.asker, b.moment, b.epoch, b.position, b.at, b.asked_at, b.fault, b.finished_at,
        case when b.state in ('ready', 'expired') then b.position else coalesce((
            select sum(p.position)::bigint / count(*) from urd.as_of_part p
            where p.realm = b.realm and p.id = b.id), 0) end,
        coalesce((
            select json_object_agg(p.projection, p.rows)::text from urd.as_of_part p
            where p.realm = b.realm and p.id = b.id and b.state = 'ready'), '{}')
    """
/// How long a maker that vanished keeps others out.
private let term = "interval '15 seconds'"
private let wanted = """
    (b.state in ('waiting', 'running') or b.state = 'ready' and b.finished_at
        >= now() - interval '\(AsOfBuildStore.keptSeconds) seconds')
    """
private let locking = Statement(
    "as_of_lock",
    """
    insert into urd.lock_row (name) values ('as_of ' || $1)
    on conflict (name) do update set name = excluded.name
    """)
private let creating = Statement(
    "as_of_create",
    """
    insert into urd.as_of_build (realm, id, asker, moment, epoch, position, at, asked_at,
        page)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9
    where (select count(*) from urd.as_of_build b
        where b.realm = $1 and \(wanted)) < \(AsOfBuildStore.mostAtOnce)
    on conflict do nothing
    """)
private let counting = Statement(
    "as_of_count",
    "select count(*) from urd.event e where e.realm = $1 and e.position between 1 and $2")
private let findingHole = Statement(
    "as_of_hole",
    """
    select min(e.number) from (
        select p.position, row_number() over (order by p.position) as number
        from urd.event p where p.realm = $1 and p.position between 1 and $2) e
    where e.position <> e.number
    """)
private let reading = Statement(
    "as_of_read",
    "select \(columns) from urd.as_of_build b where b.realm = $1 and b.id = $2")
private let listing = Statement(
    "as_of_list",
    """
    select \(columns) from urd.as_of_build b where b.realm = $1 and \(wanted)
    order by b.asked_at desc, b.id desc
    """)
private let cancelling = Statement(
    "as_of_cancel",
    """
    update urd.as_of_build set state = 'cancelled', finished_at = now(), leased_by = null
    where realm = $1 and id = $2 and state in ('waiting', 'running', 'ready')
    """)
private let claiming = Statement(
    "as_of_claim",
    """
    update urd.as_of_build b set state = 'running', leased_by = $1, lease_until = now() + \(term)
    where (b.realm, b.id) = (
        select o.realm, o.id from urd.as_of_build o
        where o.state in ('waiting', 'running') and ($2::uuid is null or o.id = $2)
            and (o.lease_until is null or o.lease_until < now())
        order by o.asked_at limit 1 for no key update skip locked)
    returning \(columns)
    """)
private let keeping = Statement(
    "as_of_keep",
    """
    update urd.as_of_build set lease_until = now() + \(term)
    where realm = $1 and id = $2 and leased_by = $3 and state = 'running'
    """)
private let failing = Statement(
    "as_of_fail",
    """
    update urd.as_of_build set state = 'failed', fault = $4, finished_at = now(), leased_by = null
    where realm = $1 and id = $2 and leased_by = $3 and state = 'running'
    """)
private let sweeping = Statement("as_of_sweep", "select urd.sweep_as_of()")
