import EventSourcing
import EventStore
import Foundation
import JSON
import PostgresTesting
import Testing
import Values

/// The server writes down the plan of every statement of the application, those inside of functions
/// too, as they were really carried out: cached, generic or not.
@Suite struct `The plans of hot statements` {
    private static let tables = [
        "realm_log", "stream", "event", "claim", "command", "subject_key",
    ]
    private static let size = Cycles.of(1_000, long: 1_000_000)

    @Test func `the plans of hot statements never scan a whole table of the log, empty or full`()
        async throws
    {
        let cluster = try TestCluster(settings: [
            "auto_explain.log_min_duration=0", "auto_explain.log_nested_statements=on",
        ])
        let database = try cluster.makeDatabase()
        try database.asSuperuser(
            "alter role urd_app set session_preload_libraries = 'auto_explain'")
        let realm = newRealm()
        // Its plans were made when there was nothing, and nobody had counted.
        let early = try TestStore(database, master: .generate())
        defer { early.log.close() }
        let another = try TestStore(database, master: early.master)
        defer { another.log.close() }
        try await expectNoScan("an empty log", cluster, early, another, realm)
        try await grow(database, realm, by: 1)
        for rows in [1, Self.size] {
            try await grow(database, realm, by: rows)
            try await expectNoScan(
                "\(rows) rows, plans from before", cluster, early, another, realm)
            try database.asSuperuser("analyze")
            try await expectNoScan("\(rows) rows, counted", cluster, early, another, realm)
            let late = try TestStore(database, master: early.master)
            defer { late.log.close() }
            try await expectNoScan("\(rows) rows, new connections", cluster, late, another, realm)
        }
    }

    /// Rows as they would be, put in the fast way.
    private func grow(_ database: TestDatabase, _ realm: RealmID, by count: Int) async throws {
        try await offPool {
            try database.asSuperuser(
                """
                begin;
                set local session_replication_role = replica;
                create temporary table fresh on commit drop as
                    select h.position + n as position, gen_random_uuid() as stream,
                        gen_random_uuid() as command
                    from urd.realm_log h, generate_series(1, \(count)) n where h.realm = '\(realm)';
                insert into urd.event (position, at, stream, command, version, revision, realm,
                        type, leaf, mac, meta, data)
                    select position, now(), stream, command, 1, 1, '\(realm)', 'thing.done',
                        sha256(uuid_send(stream)), '\\x00', '{"actor":"system"}', '{"number":1}' from fresh;
                insert into urd.stream select '\(realm)', stream, 1 from fresh;
                insert into urd.command select position, now(), command, 1, '\(realm)', '\\x'
                    from fresh;
                insert into urd.claim
                    select '\(realm)', 'slot', decode(md5(stream::text), 'hex'), stream from fresh;
                update urd.realm_log set position = position + \(count) where realm = '\(realm)';
                commit
                """)
        }
    }

    private func expectNoScan(
        _ phase: String, _ cluster: TestCluster, _ store: TestStore, _ another: TestStore,
        _ realm: RealmID
    ) async throws {
        let before = try log(of: cluster).count
        try await useEverything(store.log, another.log, realm)
        var (statement, scanned) = ("", "")
        var found: Set<String> = []
        var plans = 0
        for line in try log(of: cluster)[before...].split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: line, as: UTF8.self)
            if let text = line.range(of: "Query Text: ") {
                statement = String(line[text.upperBound...])
                plans += 1
            }
            if line.contains(" Scan ") {
                scanned = Self.tables.first { line.contains(" on \($0) ") } ?? ""
            }
            let isRead = !scanned.isEmpty && line.contains("Seq Scan")
            // Through an index by the realm alone, and so all that it has: of heads that is one.
            let isWide =
                !["", "realm_log"].contains(scanned) && line.contains("Index Cond: (realm = ")
            if isRead || isWide { found.insert("\(phase): \(statement)") }
        }
        #expect(found.isEmpty)
        #expect(plans > 100, "\(phase)")
    }

    private func log(of cluster: TestCluster) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: "\(cluster.folder)/log") else {
            throw NeverHappened(description: "The server has no log.")
        }
        return [UInt8](bytes)
    }

    /// Every statement, more often than the server takes to settle for a generic plan.
    private func useEverything(
        _ log: PostgresLog, _ another: PostgresLog, _ realm: RealmID
    ) async throws {
        for _ in 0..<8 {
            let stream = newID()
            let claim = Claim("slot", stream.description)
            let opening = commit(to: stream, in: realm, claims: [.take(claim, for: stream)])
            try expectWon(await log.append(opening))
            try expectWon(
                await log.append(
                    commit(
                        to: stream, at: 1, events: 3, in: realm,
                        claims: [.release(claim, by: stream)], open: ["text": "x"],
                        personal: ["mail": "x"], subject: stream)))
            // Of somebody whose key another node has brought.
            try expectWon(
                await another.append(
                    commit(
                        to: stream, at: 4, in: realm, personal: ["mail": "x"], subject: stream)))
            // One that repeats, one that lost, and a few together.
            _ = try await log.append(opening)
            _ = try await log.append(commit(to: stream, in: realm))
            let many = (0..<12).map { number in
                let other = newID()
                return commit(
                    to: other, at: number % 4 == 0 ? 5 : 0, in: realm,
                    claims: [.take(Claim("slot", "\(other)"), for: other)])
            }
            _ = await endings(log, many + [opening])
            // The pool has several connections: each should come to its generic plans.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        _ = try await log.stream(stream, after: 0, in: realm)
                        _ = try await log.events(from: 5, limit: 10, in: realm)
                        _ = try await log.outcome(of: opening.command, digest: [], in: realm)
                        _ = try await log.head(of: realm)
                        _ = try await log.page(from: 5, limit: 10, in: realm)
                        _ = try await log.page(
                            from: 5, span: 10, types: ["thing.done"], in: realm)
                        _ = try await log.page(at: [5, 7], in: realm)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
