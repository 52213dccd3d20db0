import Cryptography
import EventSourcing
import Glibc
import JSON
import Postgres
import PostgresTesting
import Telemetry
import Testing
import Values

@testable import EventStore

/// A realm in a database of its own, written without the committer, sealed when told to, and open
/// to whoever has the superuser's password.
final class TamperedLog: Sendable {
    let database: TestDatabase
    let pool: Database
    let master: MasterKey
    let keyring: Keyring
    let realm: RealmID
    let directory: String
    let sealer: Sealer
    let metrics = Metrics()

    init(_ database: TestDatabase? = nil, master: MasterKey = .generate()) throws {
        let database = try database ?? TestCluster.shared.makeDatabase()
        self.database = database
        self.master = master
        pool = Database(database.application, connections: 2)
        keyring = Keyring(pool, master: master)
        realm = try #require(RealmID("tampered"))
        let directory = "/tmp/urd-test-checkpoints-\(UInt64.random(in: 0 ... .max))"
        self.directory = directory
        sealer = Sealer(
            pool, keyring: keyring, settings: .init(directory: directory), metrics: metrics)
    }

    deinit {
        pool.close()
        try? removeFolder(directory)
    }

    var file: CheckpointFile { CheckpointFile(directory: directory) }

    var verifier: LogVerifier {
        LogVerifier(pool, keyring: keyring, directory: directory, pageLength: 200)
    }

    /// A sealer that knows nothing yet: after a restart, or on another node.
    func makeSealer(
        directory: String? = nil, origin: String = "urd", recheck: Duration = .zero,
        limit: Int64 = 65_536, log: Log = .silent
    ) -> Sealer {
        Sealer(
            pool, keyring: keyring,
            settings: .init(
                origin: origin, directory: directory ?? self.directory, recheck: recheck,
                limit: limit), log: log)
    }

    /// Seven hundred events, sealed every hundred: two full tiles and a rest.
    static func sealed(_ count: Int = 700, every step: Int = 100) async throws -> TamperedLog {
        let log = try TamperedLog()
        for _ in 0..<count / step {
            try await log.append(step)
            try await log.sealer.sealOnce()
        }
        return log
    }

    func state() throws -> SealingState { try #require(sealer.states[realm]) }

    /// The last checkpoint in the database.
    func newest() async throws -> SignedCheckpoint {
        let keys = try await keyring.keys(of: realm)
        let row = try await pool.run { [realm] connection throws(Postgres.Failure) in
            try TamperTable.lastCheckpoint(realm, on: connection)
        }
        return try #require(row.flatMap { keys.checkpoint($0) })
    }

    func count(_ table: String) throws -> Int64 {
        try Connection(database.superuser).run("select count(*) from urd.\(table)").position
    }

    // MARK: - Writing

    static let streams = (0..<7).map {
        UUID(high: 0x0190_0000_0000_7000, low: 1 << 63 | UInt64($0))
    }

    /// Appends events to seven streams in turn, as the application would.
    func append(_ count: Int) async throws {
        let keys = try await keyring.keys(of: realm)
        let connection = try Connection(database.superuser)
        try connection.run("set session_replication_role = replica")
        var next = try connection.run(
            "select coalesce(max(position), 0) + 1 from urd.event"
        ).position
        let others = try connection.run(
            "select count(*) from urd.event where type <> 'thing.happened'"
        ).position
        for batch in stride(from: 0, to: count, by: 10_000) {
            let size = min(10_000, count - batch)
            let records = (next..<next + Int64(size)).map { record(at: $0, behind: others) }
            try connection.insert(records, from: next, key: keys.mac[0])
            next += Int64(size)
        }
        try repair(connection)
    }

    /// Puts on record, as the application would, that a loss is accepted.
    /// - Parameter key: the realm's own, unless it is to be a forgery.
    func accept(_ loss: AcceptedLoss, key: HMACKey? = nil) async throws {
        let keys = try await keyring.keys(of: realm)
        let connection = try Connection(database.superuser)
        try connection.run("set session_replication_role = replica")
        let next = try connection.run(
            "select coalesce(max(position), 0) + 1 from urd.event"
        ).position
        let version = try connection.run(
            "select count(*) + 1 from urd.event where type = '\(AcceptedLoss.eventName)'"
        ).position
        let record = Record(
            at: Timestamp(microseconds: 1_700_000_000_000_000 + next * 1001),
            command: UUID(high: 8, low: UInt64(next)),
            data: JSON.object(loss.fields).canonical(),
            meta: Array(#"{"actor":"operator:x"}"#.utf8),
            realm: realm.name, revision: 1, sealed: nil, stream: AcceptedLoss.stream, subject: nil,
            type: AcceptedLoss.eventName, version: Int(version))
        try connection.insert([record], from: next, key: key ?? keys.mac[0])
        try repair(connection)
    }

    /// Makes the database what it was when the log had some events, of which some were sealed.
    func setBack(to kept: Int64, sealed: Int64) throws {
        try attack(
            "delete from urd.event where position > \(kept)",
            "delete from urd.checkpoint where size > \(sealed)",
            "delete from urd.tile where (index + 1) << (8 * (level + 1)) > \(sealed)",
            repairing: true)
    }

    /// As if the copy had been written so long ago.
    func setCopyBack(minutes: Int) {
        let then = time(nil) - 60 * minutes
        let times = [timespec(tv_sec: then, tv_nsec: 0), timespec(tv_sec: then, tv_nsec: 0)]
        utimensat(AT_FDCWD, file.path(of: realm), times, 0)
    }

    func epoch() throws -> Int64 {
        try Connection(database.superuser).run("select epoch from urd.realm_log").position
    }

    /// The record that the application writes at a position.
    /// - Parameter others: how many events before it are of other streams than the seven.
    func record(at position: Int64, behind others: Int64 = 0) -> Record {
        let ordinal = position - 1 - others
        let index = Int(ordinal % 7)
        return Record(
            at: Timestamp(microseconds: 1_700_000_000_000_000 + position * 1001),
            command: UUID(high: 7, low: UInt64(position)),
            data: Array(#"{"a":{"n":\#(position),"text":"{ \"b\\ é"},"meta":{"c":2}}"#.utf8),
            meta: Array(#"{"actor":"system","list":[{}]}"#.utf8), realm: realm.name,
            revision: 1 + index,
            sealed: index == 3 ? [UInt8(truncatingIfNeeded: position), 2] : nil,
            stream: Self.streams[index], subject: index == 3 ? UUID(high: 9, low: 9) : nil,
            type: "thing.happened", version: 1 + Int(ordinal / 7))
    }

    /// Makes head and stream versions fit the events, as an attacker would.
    func repair(_ connection: Connection) throws {
        try connection.run(
            """
            delete from urd.stream where realm = '\(realm)';
            insert into urd.stream select realm, stream, max(version) from urd.event
                where realm = '\(realm)' group by 1, 2;
            insert into urd.realm_log (realm) values ('\(realm)') on conflict do nothing;
            update urd.realm_log set position =
                (select coalesce(max(position), 0) from urd.event where realm = '\(realm)')
                where realm = '\(realm)';
            """)
    }

    // MARK: - Attacking

    /// Runs as the superuser, with triggers off.
    func attack(_ sql: String..., repairing: Bool = false) throws {
        let connection = try Connection(database.superuser)
        try connection.run("set session_replication_role = replica")
        for statement in sql { try connection.run(statement) }
        if repairing { try repair(connection) }
    }

    func dropUniqueness() throws {
        try attack("alter table urd.event drop constraint event_realm_stream_version_key")
        try attack("alter table urd.event drop constraint event_pkey")
    }

    /// Makes the stored leaf fit what the columns say now: nobody needs a key for that.
    func fixLeaf(at position: Int64) throws {
        let connection = try Connection(database.superuser)
        try connection.run("set session_replication_role = replica")
        var parameters = Parameters()
        parameters.add(position)
        let rows = try connection.executeOnce(
            """
            select at, command, data, meta, revision, sealed, stream, subject, type, version
            from urd.event where position = $1
            """, parameters)
        let record = Record(
            at: Timestamp(microseconds: rows.time(0, 0)), command: rows.identifier(0, 1),
            data: rows.bytes(0, 2), meta: rows.bytes(0, 3), realm: realm.name,
            revision: Int(rows.int16(0, 4)), sealed: rows.isNull(0, 5) ? nil : rows.bytes(0, 5),
            stream: rows.identifier(0, 6), subject: rows.isNull(0, 7) ? nil : rows.identifier(0, 7),
            type: rows.text(0, 8), version: Int(rows.int32(0, 9)))
        parameters.add(bytes: record.leaf)
        try connection.executeOnce("update urd.event set leaf = $2 where position = $1", parameters)
    }

    /// Makes a full tile of leaves fit the column.
    func fixTile(_ index: Int64) throws {
        try attack(
            """
            update urd.tile set hashes = (
                select string_agg(leaf, null order by position) from urd.event
                where position between \(index * 256 + 1) and \(index * 256 + 256))
            where level = 0 and index = \(index)
            """)
    }

    static let swap = """
        update urd.event set position = -150 where position = 150;
        update urd.event set position = 150 where position = 151;
        update urd.event set position = 151 where position = -150;
        """
}

extension Rows {
    /// The number in the first column, from a result in text form.
    var position: Int64 { Int64(text(0, 0)) ?? 0 }
}

extension Connection {
    fileprivate func insert(_ records: [Record], from first: Int64, key: HMACKey) throws {
        var positions = ArrayParameter(of: .int8)
        var times = ArrayParameter(of: .timestamptz)
        var streams = ArrayParameter(of: .uuid)
        var commands = ArrayParameter(of: .uuid)
        var subjects = ArrayParameter(of: .uuid)
        var versions = ArrayParameter(of: .int4)
        var revisions = ArrayParameter(of: .int2)
        var leaves = ArrayParameter(of: .bytea)
        var macs = ArrayParameter(of: .bytea)
        var types = ArrayParameter(of: .text)
        var metas = ArrayParameter(of: .text)
        var datas = ArrayParameter(of: .text)
        var sealed = ArrayParameter(of: .bytea)
        for (offset, record) in records.enumerated() {
            let leaf = record.leaf
            positions.append(first + Int64(offset))
            times.append(time: record.at.microseconds)
            streams.append(record.stream)
            commands.append(record.command)
            if let subject = record.subject {
                subjects.append(subject)
            } else {
                subjects.appendNull()
            }
            versions.append(Int32(record.version))
            revisions.append(Int16(record.revision))
            types.append(record.type)
            leaves.append(bytes: leaf)
            macs.append(bytes: Record.mac(leaf, under: key))
            metas.append(String(decoding: record.meta, as: UTF8.self))
            datas.append(String(decoding: record.data, as: UTF8.self))
            if let bytes = record.sealed {
                sealed.append(bytes: bytes)
            } else {
                sealed.appendNull()
            }
        }
        var parameters = Parameters()
        for array in [
            positions, times, streams, commands, subjects, versions, revisions, leaves, macs, metas,
            datas, sealed, types,
        ] { parameters.add(array) }
        try executeOnce(
            """
            insert into urd.event (realm, type, position, at, stream, command, subject, version,
                revision, leaf, mac, meta, data, sealed)
            select 'tampered', y, p, a, s, c, u, v, r, l, m, t::json, d::json, x
            from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                as e (p, a, s, c, u, v, r, l, m, t, d, x, y)
            """, parameters)
    }
}
