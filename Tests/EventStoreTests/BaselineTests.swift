import Postgres
import PostgresTesting
import Testing

@testable import EventStore

@Suite struct `Databases from before the baseline` {
    /// The name and digest of each step that the last build before the baseline applied.
    private static let steps = """
        event_log 5c3506c9b4d29e45d80f127391abcb625704f72b2b95088018a045b6fe31c343
        append ac65ef79e8c8917dfc755603bdd1bb86c81ed88c3436d4c38271bb1b9cf6cd3a
        keys 11e37c95260b719fde6bb36f3377484dd43c4589f93b541457e02e0a2ae12df3
        projections 26ac86024420eccd55edbd066408a2eb882cc7c76f82c945bb61865bc73dd567
        tamper 26a86cf9391b2ed1d96781719cd551994d564a66d9e94a591e1ae195d43d1304
        housekeeping 592784c39ef6d68a7b293c763beebb9c45cf78138c0d9a55bf4440aa1016aca9
        expiring_claims e769ce93ffd8fbde974ed69341eea5a26c315a916d10d4bd9f766240561921e2
        taught_planner e1c1af5010c91b8787cbb0efd781827135fab855e2b0c2696faa733469c6497d
        following a13abf42e8e15c5a7178fec12be349a6f9f5f6c1439eea26e9e5c61dc84d76fb
        append_all efefe5a8d91a35b743e73dcbfac5d49077e159f310156bb102b82c5c2544278f
        log_not_vacuumed ed8b4fa87f706fc0c41bdca214fbb29257a252920ea70fa26facf1e867937344
        append_checks_keys 0934d60fd20b7c3d6ae987985876942e66a2aed29a0e478f2a9e5df379635729
        epochs_of_timelines f88348e4b2b51caf59d3898d8eca40e0692fcccc43ce8badeb508edffab3a125
        lost_tails 482386eaf51e3e9526828b3bff98dd9c1edaf73f5b5210da1c24001a4c573013
        derive_versions 8c0553f005f25591c2d2707cc7fbe734cfaef4efd18168f49fe7a1a4a07c54c7
        epoch_starts 35681dd59bcd500e105c896612807b56f39d73bcce1ae549c95e854d6bba276e
        observer_without_events 11952558ead80cd635396041ee9194a29a86ed92be7a32a719828be5510af4b2
        webhook_delivery 861abef8a82e419663136ffc6be49665d4b8e01d70372d82b958219d1e504d7b
        signal_delivery e6268961d744c8c459974b6861e351f2d16ba46496fbeaafcc5384d038b39926
        feed_cursors bc1ef6d97be55e54355e3cfad446232f20c3a2b5972d1e0fdff2325019ced7a9
        resumed_subscriptions 43d0a64d668e4a9085afbfe8bae901e99b5dfee48310cd6da4a5bbe943845b7b
        request_sequences 9eb679e8672d1af9930bc3d84c8556f8fff8109c9b631b005c424ea30152bd15
        analysts 63f7ed75c7352bf9417808922d3f369d83b232ae549cd8492a2dcd5472bb78c0
        case_files 6ef8d934b129f181384f17982bc3797a95137f711ffafd536cb58aa8ba798319
        what_if 599d8d4fec17441c98cacce9776969530cce3c9148ed7af5e36c034a3b2a9197
        as_of_builds 5a2744421fdf34ecd0415cae8462302893aa727826bb4fc215002fbb453806a1
        as_of_steps 8bb42c05650a1e1c1de33250798ffe16958ccd0cdd004d6cba620b29111802c8
        as_of_credentials aca0583dcb61f89e4999bab78e5e8fa5ecc6044fc5153e3be821430d28476f36
        lost_epochs d0745305e97373b0621455e7ce2a9fa2fab637ce7992525614e24b91041be373
        as_of_views 8689d502f4d349af37da1915855e92646f46613036de0148a9262ab7d4755d20
        request_sequences_at_once e1134ce3f9820e45087c6af3d181ac97dd3c033484b4b6a90e3f252d6494bb01
        attempts_by_time dc2b38c41813567f92e5d2b6f91db84512dbd74f5c1977a2b0f0476f33e4cdf2
        noted_erasures 8d3fcb4a8b75f80c1b190d88300e2c352107fd296961bf50a31bd30e698e0b50
        leases_and_locks d1b10f553305b6cc26441833973dae298bb2dc7dc41cb621075f3a20d1606931
        analyst_fences 1118c68353076292c4732555c80d75b11efd8c3e714ca302bfcfc9f8e8c55438
        untimed_requests 956234c230023962b6319ce3b953b86fcff95302d6c92e19431a50cee59e4373
        analyst_bounds 17f373b99bd728f99670f90fbfefce0bab74d2db5d862e3246e924bc4e234fa2
        lost_positions 2c2780a5c91a3fec72c0f2839270d00106d747ff83a69611f09f17d5be10a922
        """

    private let database: TestDatabase
    private let owner: Connection
    private let baseline = Migrations.baseline.version

    init() throws {
        database = try TestCluster.shared.makeDatabase()
        owner = try Connection(database.owner)
    }

    /// As if the earlier steps had made the database, up to one of them.
    private func record(upTo last: Int) throws {
        let rows = Self.steps.split(separator: "\n").prefix(last).enumerated().map { index, line in
            let words = line.split(separator: " ")
            return "(\(index + 1), '\(words[0])', '\\x\(words[1])')"
        }
        try owner.run(
            """
            truncate urd.migration;
            insert into urd.migration (version, name, digest) values \(rows.joined(separator: ","))
            """)
    }

    private func recorded() throws -> Int { try owner.run("select from urd.migration").count }

    @Test func `a database that all earlier steps made is current and is not touched`() throws {
        try record(upTo: baseline)
        let state = try Migrator(owner).state()
        #expect(state.isCurrent == (Migrator.newestSchema == baseline))
        #expect(state.schema == baseline)
        let later = Migrations.Step(
            version: baseline + 1, name: "later", sql: Array("create table urd.later ()".utf8))
        let migrator = Migrator(owner, steps: [Migrations.baseline, later])
        #expect(try migrator.migrate() == ["\(baseline + 1) later"])
        #expect(try migrator.state().isCurrent)
        #expect(try recorded() == baseline + 1)
    }

    @Test(arguments: [1, 21, 37])
    func `a database that stopped before the baseline is told which build goes on`(
        schema: Int
    ) throws {
        try record(upTo: schema)
        let refusal = Migrator.Refusal.schemaIsOlder(schema: schema, baseline: baseline)
        #expect(throws: refusal) { try Migrator(owner).state() }
        #expect(throws: refusal) { try Migrator(owner).migrate() }
        #expect(try recorded() == schema)
        #expect(
            refusal.description == "the database has schema version \(schema), this binary begins "
                + "at 38: run `urd migrate` of build 0.1.0 (b49a94b37bb0, 2026-11-30) first, then "
                + "of this one")
    }

    @Test(arguments: [
        "update urd.migration set digest = '\\x00' where version = 3",
        "delete from urd.migration where version = 3",
        "delete from urd.migration where version < 38",
        "insert into urd.migration values (0, 'other', '\\x00')",
        "update urd.migration set digest = '\\x00' where version = 38",
    ])
    func `a database with some of the earlier steps, or other ones, is refused`(
        change: String
    ) throws {
        try record(upTo: baseline)
        try owner.run(change)
        let refusal = Migrator.Refusal.historyDiffers(version: baseline)
        #expect(throws: refusal) { try Migrator(owner).state() }
        #expect(throws: refusal) { try Migrator(owner).migrate() }
        #expect(refusal.description.contains("run that one"))
    }

    @Test func `a database of the baseline with an earlier step beside it is refused`() throws {
        try owner.run("insert into urd.migration values (1, 'event_log', '\\x00')")
        #expect(throws: Migrator.Refusal.historyDiffers(version: baseline)) {
            try Migrator(owner).state()
        }
        try owner.run("delete from urd.migration where version = 1")
        #expect(try Migrator(owner).state().isCurrent)
        try owner.run("update urd.migration set digest = '\\x00'")
        #expect(throws: Migrator.Refusal.historyDiffers(version: baseline)) {
            try Migrator(owner).state()
        }
    }

    /// As the last build before the baseline made them, and as a build was left that was being read.
    @Test func `what an earlier build had of realms as of a moment goes, schemas with the sweep`()
        throws
    {
        let database = try TestCluster.shared.makeDatabase(migrated: false)
        let owner = try Connection(database.owner)
        let before = [Migrations.baseline]
        #expect(try Migrator(owner, steps: before).migrate() == ["38 baseline"])
        let schema = "analyst_at_00000000000000000000000000000001"
        try owner.run(
            """
            create table urd.as_of_build (realm text, id uuid unique, state text);
            create table urd.as_of_part (id uuid references urd.as_of_build (id));
            create table urd.as_of_page (id uuid references urd.as_of_build (id));
            insert into urd.as_of_build values ('one', '00000000-0000-0000-0000-000000000001', 'ready');
            insert into urd.as_of_part select id from urd.as_of_build;
            create function urd.as_of_schema(p_id uuid) returns text language sql return 'a';
            create function urd.as_of_text(p_id uuid, p_position bigint, p_text text) returns text
                language sql return p_text;
            create function urd.copy_indexes(p_live regclass, p_table text, p_key boolean)
                returns void language sql return null;
            create function analyst.realm_at(p_id uuid) returns text language sql return 'one';
            create schema \(schema);
            create view \(schema).accounts_v1 as select analyst.realm_at(null) as realm
            """)
        #expect(try Migrator(owner).migrate() == ["39 as_of_builds", "40 backups", "41 append"])
        #expect(try Migrator(owner).state().isCurrent)
        #expect(try owner.run("select from urd.as_of_build").isEmpty)
        let gone = "select from pg_proc where proname in ('as_of_text', 'copy_indexes')"
        #expect(try owner.run(gone).isEmpty)
        #expect(try owner.run("select urd.sweep_as_of()").text(0, 0) == "1")
        #expect(try owner.run("select from pg_namespace where nspname = '\(schema)'").isEmpty)
    }

    /// Plans that are made now are kept: they must not be those for a table of no rows.
    @Test func `the planner knows how a realm fills the log's tables and takes them for new ones`()
        throws
    {
        let log = "('event', 'stream', 'claim', 'command')"
        let taught = try owner.run(
            """
            select from pg_stats where schemaname = 'urd' and tablename in \(log)
                and attname = 'realm' and n_distinct = 1
            """)
        #expect(taught.count == 4)
        let new = try owner.run(
            """
            select from pg_class where relnamespace = 'urd'::regnamespace and relname in \(log)
                and reltuples = -1
            """)
        #expect(new.count == 4)
    }
}
