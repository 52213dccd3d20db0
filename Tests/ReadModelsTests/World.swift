import EventStore
import Postgres
import PostgresTesting
import Values

@testable import ReadModels

/// A database with the schema, and hands to append to it without a log in between: what is tested
/// here is what PostgreSQL does with the events.
struct World {
    let database: TestDatabase
    let owner: Connection
    /// Nothing holds it back: it writes events, and poisons them.
    let superuser: Connection
    let pool: Database

    init(_ projections: [Projection]? = nil, migrated: Bool = true) throws {
        let isUsual = migrated && projections == nil
        database =
            isUsual
            ? try TestCluster.shared.makeDatabase(like: "with_read_models") {
                _ = try ProjectionEngine($0, projections: Projection.all).migrate()
            } : try TestCluster.shared.makeDatabase()
        owner = try Connection(database.owner)
        superuser = try Connection(database.superuser)
        pool = Database(database.application, connections: 2)
        if migrated, let projections { _ = try engine(projections).migrate() }
    }

    func engine(_ projections: [Projection] = Projection.all, workers: Int = 2) -> ProjectionEngine
    {
        ProjectionEngine(database.owner, workers: workers, projections: projections)
    }

    var queries: ReadModelQueries { ReadModelQueries(pool, hub: CommitHub()) }

    /// Appends as the log does: under the head lock, with the inline projections, all or nothing.
    func append(_ events: [Happening], in realm: String) throws {
        try Self.append(events, in: realm, superuser)
    }

    /// A realm `one` with a client, and a session of an account at it.
    func open(_ session: UUID, of account: UUID, at client: UUID) throws {
        try append(
            [
                Happening("realm.created", .zero, version: 1, #"{"display_name":"One"}"#),
                Happening("client.registered", client, version: 1, #"{"client_id":"c"}"#),
                Happening(
                    "account.registered", account, version: 1,
                    #"{"mailbox":"\#(account)","confirmed":true,"origin":"code"}"#),
                Happening(
                    "session.opened", session, version: 1,
                    """
                    {"account":"\(account)","stamp":0,"client":"\(client)","client_id":"c",
                    "scope":[],"resources":[],"amr":[],"opened_at":1,"offline":true,
                    "expires_at":1900000000}
                    """),
            ], in: "one")
    }

    static func append(
        _ events: [Happening], in realm: String, _ connection: Connection
    ) throws {
        try connection.transaction { connection throws(Postgres.Failure) in
            try appendWithin(events, in: realm, connection)
        }
    }

    /// The same in the transaction of the caller.
    static func appendWithin(
        _ events: [Happening], in realm: String, _ connection: Connection
    ) throws(Postgres.Failure) {
        var named = Parameters(realm: realm)
        try connection.execute(beginning, named)
        let head = try connection.execute(locking, named).int64(0, 0)
        for (index, event) in events.enumerated() {
            try connection.execute(inserting, event.parameters(realm, head + 1 + Int64(index)))
        }
        named.add(head + Int64(events.count))
        try connection.execute(advancing, named)
        named.add(head + 1)
        named.add("{\(events.map(\.type).joined(separator: ","))}")
        try connection.execute(applying, named)
    }

    /// All rows of a relation as text, in a fixed order.
    func rows(_ relation: String) throws -> [String] {
        let rows = try superuser.executeOnce(
            "select t::text from urd.\(relation) t order by 1", Parameters())
        return (0..<rows.count).map { rows.text($0, 0) }
    }

    /// How many there were for it to move by. What was made may all be gone again: then no row is left.
    func events(for projection: Projection) throws -> Int {
        guard let types = projection.types else { return try rows("event").count }
        return try types.reduce(0) { sum, type in
            sum + (Int(try value("select count(*) from urd.event where type = '\(type)'")) ?? 0)
        }
    }

    /// One value as text.
    func value(_ sql: String) throws -> String {
        let rows = try superuser.executeOnce("select (\(sql))::text", Parameters())
        return rows.isNull(0, 0) ? "null" : rows.text(0, 0)
    }

    func status(_ projection: String, _ realm: String) throws -> ProjectionStatus? {
        try ProjectionStatus.read(superuser).first {
            $0.projection == projection && $0.realm == realm && $0.state != .previous
        }
    }

    func live(_ projection: String) throws -> Int? {
        try Builds.number(of: projection, "live", superuser)
    }
}

/// One event of a test.
struct Happening: Sendable {
    var type: String
    var stream: UUID
    var data: String
    var version: Int
    var at: Timestamp

    init(
        _ type: String, _ stream: UUID, version: Int, _ data: String = "{}",
        at: Timestamp = Timestamp(microseconds: 1_790_000_000_000_000)
    ) {
        self.type = type
        self.stream = stream
        self.version = version
        self.data = data
        self.at = at
    }

    func parameters(_ realm: String, _ position: Int64) -> Parameters {
        var parameters = Parameters(realm: realm)
        parameters.add(position)
        parameters.add(stream)
        parameters.add(Int32(version))
        parameters.add(type)
        parameters.add(time: at.microseconds &+ position)
        parameters.add(json: Array(data.utf8))
        return parameters
    }
}

private let beginning = Statement(
    "test_begin", "insert into urd.realm_log (realm) values ($1) on conflict do nothing")
private let locking = Statement(
    "test_lock", "select position from urd.realm_log where realm = $1 for no key update")
private let advancing = Statement(
    "test_advance", "update urd.realm_log set position = $2 where realm = $1")
private let applying = Statement(
    "test_apply",
    """
    select urd.apply_inline($1, $3, $2, $4::text::text[], h.attached)
    from urd.realm_log h where h.realm = $1
    """)
/// Whose personal data an event holds is not always whom it is about: no read model may take the one for
/// the other.
private let inserting = Statement(
    "test_insert",
    """
    insert into urd.event (
        realm, position, stream, version, type, revision, at, command, subject, leaf, mac, meta,
        data)
    values ($1, $2, $3, $4, $5, 1, $6, gen_random_uuid(), gen_random_uuid(),
        sha256(uuid_send($3) || int8send($2)), '',
        '{"actor":"admin:tester","client":"a"}', $7)
    """)
