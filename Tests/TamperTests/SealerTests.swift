import Cryptography
import EventSourcing
import JSON
import Postgres
import PostgresTesting
import Synchronization
import Telemetry
import Testing

@testable import EventStore

@Suite(.serialized) struct `The sealer` {
    private func root(_ log: TamperedLog, _ size: Int64) -> [UInt8] {
        let records = (1...size).map { log.record(at: $0).bytes }
        return Definition.root(records[...])
    }

    // MARK: - Sealing

    @Test func `the sealer signs the root of the present events, in the database and in the file`()
        async throws
    {
        let log = try TamperedLog()
        try await log.append(300)
        #expect(try await log.sealer.sealOnce() == false)
        let checkpoint = try await log.newest()
        #expect(checkpoint.size == 300)
        #expect(checkpoint.root.bytes == root(log, 300))
        #expect(checkpoint.checkpoint.origin == "urd/tampered")
        #expect(try log.file.read(log.realm) == checkpoint.note)
        #expect(try log.count("tile") == 1)
        #expect(try log.state() == SealingState(sealed: 300, head: 300, halt: nil))
    }

    @Test func `the sealer signs nothing while the log stands still`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        for _ in 0..<3 { try await log.sealer.sealOnce() }
        #expect(try log.count("checkpoint") == 2)
    }

    @Test func `the sealer resumes after a restart`() async throws {
        let log = try TamperedLog()
        for step in [1, 254, 1, 1, 255, 300] {
            try await log.append(step)
            try await log.makeSealer().sealOnce()
        }
        let checkpoint = try await log.newest()
        #expect(checkpoint.size == 812)
        #expect(checkpoint.root.bytes == root(log, 812))
        #expect(try log.count("tile") == 3)
        #expect(try await log.verifier.verify(log.realm).checkpoints == 7)
    }

    @Test func `the sealer catches up in parts with a checkpoint each`() async throws {
        let log = try TamperedLog()
        try await log.append(1000)
        let sealer = log.makeSealer(limit: 300)
        #expect(try await sealer.sealOnce())
        #expect(sealer.states[log.realm]?.lag == 700)
        while try await sealer.sealOnce() {}
        #expect(try log.count("checkpoint") == 4)
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `the sealer stores tiles of the second level once a log is long enough`()
        async throws
    {
        let log = try TamperedLog()
        try await log.append(65_536 + 300)
        while try await log.sealer.sealOnce() {}
        #expect(try log.count("tile where level = 1") == 1)
        try await log.append(10)
        let next = log.makeSealer()
        try await next.sealOnce()
        #expect(next.states[log.realm] == SealingState(sealed: 65_846, head: 65_846, halt: nil))
        let verification = try await LogVerifier(
            log.pool, keyring: log.keyring, directory: log.directory
        ).verify(log.realm)
        #expect(verification.isIntact && verification.last == 65_846)
        let late = try await log.verifier.verify(log.realm, from: 65_840)
        #expect(late.isIntact && late.first == 65_837)
        try log.attack(
            "update urd.tile set hashes = overlay(hashes placing sha256('') from 33) where level = 1"
        )
        #expect(try await log.verifier.verify(log.realm).finding?.problem == .tileChanged)
        let restarted = log.makeSealer()
        try await restarted.sealOnce()
        #expect(restarted.states[log.realm]?.halt == .changedTree(size: 65_846))
    }

    @Test func `the sealer resumes where another node's stopped, each with a file`()
        async throws
    {
        let log = try TamperedLog()
        let other = log.directory + "-other"
        defer { try? removeFolder(other) }
        let sealers = [log.makeSealer(limit: 100), log.makeSealer(directory: other, limit: 100)]
        for round in 0..<6 {
            try await log.append(50)
            try await sealers[round % 2].sealOnce()
        }
        // The one that pauses for long reads the stored tree instead of every event.
        try await log.append(500)
        while try await sealers[0].sealOnce() {}
        for sealer in sealers { try await sealer.sealOnce() }
        #expect(sealers.allSatisfy { $0.states[log.realm]?.sealed == 800 })
        let checkpoint = try await log.newest()
        #expect(try CheckpointFile(directory: other).read(log.realm) == checkpoint.note)
        #expect(try log.file.read(log.realm) == checkpoint.note)
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `two sealers on two nodes sign one line of checkpoints`() async throws {
        let log = try TamperedLog()
        let sealers = [log.makeSealer(), log.makeSealer(directory: log.directory + "-2")]
        defer { try? removeFolder(log.directory + "-2") }
        for _ in 0..<10 {
            try await log.append(30)
            await withTaskGroup(of: Void.self) { group in
                for sealer in sealers { group.addTask { _ = try? await sealer.sealOnce() } }
            }
        }
        for sealer in sealers { try await sealer.sealOnce() }
        #expect(sealers.allSatisfy { $0.states[log.realm]?.halt == nil })
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `the sealer seals the rest when it is stopped`() async throws {
        let log = try TamperedLog()
        try await log.append(40)
        let sealer = log.sealer
        let task = Task { try await sealer.run() }
        task.cancel()
        try await task.value
        #expect(try log.state().sealed == 40)
    }

    @Test func `the sealer accepts a mac by a key that another node rotated in`() async throws {
        let log = try TamperedLog()
        try await log.append(10)
        try await log.sealer.sealOnce()
        let other = Keyring(log.pool, master: log.master)
        _ = try await other.rotate(log.realm)
        let writer = try TamperedLog(log.database, master: log.master)
        try await writer.append(10)
        try await log.sealer.sealOnce()
        #expect(try log.state() == SealingState(sealed: 20, head: 20, halt: nil))
    }

    @Test func `the sealer keeps its line of checkpoints under a new origin`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        let sealer = log.makeSealer(origin: "id.example.com/log")
        try await log.append(10)
        try await sealer.sealOnce()
        #expect(try await log.newest().checkpoint.origin == "id.example.com/log/tampered")
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `the sealer reports its progress in metrics`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        let text = log.metrics.render()
        #expect(text.contains(#"urd_sealer_sealed_position{realm="tampered"} 20"#))
        #expect(text.contains(#"urd_sealer_halted{realm="tampered"} 0"#))
        #expect(text.contains("urd_sealer_checkpoints_total 2"))
    }

    // MARK: - The file

    @Test func `the sealer renews an old or missing file, as after a crash`() async throws {
        let log = try await TamperedLog.sealed(10, every: 10)
        let old = try #require(try log.file.read(log.realm))
        try await log.append(10)
        try await log.sealer.sealOnce()
        try log.file.write(old, of: log.realm)
        var sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == nil)
        #expect(try await log.file.read(log.realm) == log.newest().note)
        try removeFolder(log.directory)
        sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == nil)
        #expect(try await log.file.read(log.realm) == log.newest().note)
    }

    @Test func `the sealer goes on and complains where its file cannot be written`() async throws {
        let log = try TamperedLog()
        try await log.append(10)
        let lines = Lines()
        let sealer = log.makeSealer(directory: "/nowhere/to/be/found", log: lines.log)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 10, head: 10, halt: nil))
        #expect(lines.count("sealer.file.failed") == 1)
    }

    @Test func `the sealer seals other realms while one has no usable keys`() async throws {
        let log = try await TamperedLog.sealed(10, every: 10)
        try log.attack(
            "insert into urd.realm_log (realm, position) values ('broken', 5)",
            """
            insert into urd.realm_key (realm, purpose, version, master, wrapped)
            select 'broken', 'sign', 1, master, '\\x00' from urd.realm_key limit 1
            """)
        try await log.append(10)
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.sealed == 20)
        let broken = try #require(RealmID("broken"))
        #expect(
            sealer.states[broken] == SealingState(sealed: 0, head: 0, halt: .unreadableKeys))
    }

    // MARK: - Privileges

    @Test(arguments: ["tile", "checkpoint"])
    func `the sealer's rows can be changed by nobody`(_ table: String) async throws {
        let log = try await TamperedLog.sealed(300, every: 300)
        for role in [log.database.application, log.database.owner] {
            for statement in [
                "update urd.\(table) set realm = 'x'", "delete from urd.\(table)",
                "truncate urd.\(table)",
            ] {
                let connection = try Connection(role)
                #expect(throws: Postgres.Failure.self) { try connection.run(statement) }
            }
        }
        let observer = try Connection(log.database.observer)
        #expect(try observer.run("select count(*) from urd.\(table)").position == 1)
        #expect(throws: Postgres.Failure.self) {
            try observer.run("insert into urd.\(table) select * from urd.\(table)")
        }
    }
}
