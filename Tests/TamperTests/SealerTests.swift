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
    /// The last checkpoint in the database.
    private func last(_ log: TamperedLog) async throws -> SignedCheckpoint {
        let keys = try await log.keyring.keys(of: log.realm)
        let realm = log.realm
        let row = try await log.pool.run { connection throws(Postgres.Failure) in
            try TamperTable.lastCheckpoint(realm, on: connection)
        }
        return try #require(row.flatMap { keys.checkpoint($0) })
    }

    private func count(_ table: String, _ log: TamperedLog) throws -> Int64 {
        try Connection(log.database.superuser).run("select count(*) from urd.\(table)").position
    }

    private func root(_ log: TamperedLog, _ size: Int64) -> [UInt8] {
        let records = (1...size).map { log.record(at: $0).bytes }
        return Definition.root(records[...])
    }

    // MARK: - Sealing

    @Test func `signs the root of the events that there are, in the database and in the file`()
        async throws
    {
        let log = try TamperedLog()
        try await log.append(300)
        #expect(try await log.sealer.sealOnce() == false)
        let checkpoint = try await last(log)
        #expect(checkpoint.size == 300)
        #expect(checkpoint.root.bytes == root(log, 300))
        #expect(checkpoint.checkpoint.origin == "urd/tampered")
        #expect(try log.file.read(log.realm) == checkpoint.note)
        #expect(try count("tile", log) == 1)
        #expect(try log.state() == SealingState(sealed: 300, head: 300, halt: nil))
    }

    @Test func `signs nothing while the log stands still`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        for _ in 0..<3 { try await log.sealer.sealOnce() }
        #expect(try count("checkpoint", log) == 2)
    }

    @Test func `goes on after a restart as if there had been none`() async throws {
        let log = try TamperedLog()
        for step in [1, 254, 1, 1, 255, 300] {
            try await log.append(step)
            try await log.makeSealer().sealOnce()
        }
        let checkpoint = try await last(log)
        #expect(checkpoint.size == 812)
        #expect(checkpoint.root.bytes == root(log, 812))
        #expect(try count("tile", log) == 3)
        #expect(try await log.verifier.verify(log.realm).checkpoints == 7)
    }

    @Test func `catches up in parts, each with a checkpoint of its own`() async throws {
        let log = try TamperedLog()
        try await log.append(1000)
        let sealer = log.makeSealer(limit: 300)
        #expect(try await sealer.sealOnce())
        #expect(sealer.states[log.realm]?.lag == 700)
        while try await sealer.sealOnce() {}
        #expect(try count("checkpoint", log) == 4)
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `stores the tiles of the second level once a log is long enough`() async throws {
        let log = try TamperedLog()
        try await log.append(65_536 + 300)
        while try await log.sealer.sealOnce() {}
        #expect(try count("tile where level = 1", log) == 1)
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

    @Test func `of one node goes on where that of another stopped, and each keeps a file`()
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
        let checkpoint = try await last(log)
        #expect(try CheckpointFile(directory: other).read(log.realm) == checkpoint.note)
        #expect(try log.file.read(log.realm) == checkpoint.note)
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `of two nodes at once signs one line of checkpoints`() async throws {
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

    @Test func `seals what is left when it is stopped`() async throws {
        let log = try TamperedLog()
        try await log.append(40)
        let sealer = log.sealer
        let task = Task { try await sealer.run() }
        task.cancel()
        try await task.value
        #expect(try log.state().sealed == 40)
    }

    @Test func `believes a mac by a key that another node rotated in`() async throws {
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

    @Test func `keeps its line of checkpoints when the origin is configured anew`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        let sealer = log.makeSealer(origin: "id.example.com/log")
        try await log.append(10)
        try await sealer.sealOnce()
        #expect(try await last(log).checkpoint.origin == "id.example.com/log/tampered")
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `tells how far it is in metrics`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        let text = log.metrics.render()
        #expect(text.contains(#"urd_sealer_sealed_position{realm="tampered"} 20"#))
        #expect(text.contains(#"urd_sealer_halted{realm="tampered"} 0"#))
        #expect(text.contains("urd_sealer_checkpoints_total 2"))
    }

    // MARK: - Halting

    /// Expects that a round after an attack halts, signs nothing, and says so.
    private func expectHalt(
        _ halt: Halt, _ log: TamperedLog, _ sealer: Sealer
    ) async throws {
        let before = try count("checkpoint", log)
        let file = try log.file.read(log.realm)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == halt)
        #expect(try count("checkpoint", log) == before)
        #expect(try log.file.read(log.realm) == file)
    }

    @Test func `refuses an event that the application did not write`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack("update urd.event set mac = sha256('') where position = 25")
        try await expectHalt(.forgedEvent(position: 25), log, log.sealer)
        try await expectHalt(.forgedEvent(position: 25), log, log.makeSealer())
    }

    @Test func `refuses a log with a hole`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack("delete from urd.event where position = 25")
        try await expectHalt(.missingEvent(position: 25), log, log.sealer)
    }

    @Test func `refuses a log whose newest sealed event is another one now`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack(
            """
            update urd.event e set leaf = o.leaf, mac = o.mac from urd.event o
            where e.position = 20 and o.position = 3
            """)
        try await expectHalt(.changedEvent(position: 20), log, log.sealer)
    }

    @Test func `refuses a log that lost its tail`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack("delete from urd.event where position > 15", repairing: true)
        try await expectHalt(.logIsShorter(size: 20, head: 15), log, log.sealer)
    }

    @Test func `remembers what it signed although the database and the file were set back`()
        async throws
    {
        let log = try await TamperedLog.sealed(10, every: 10)
        let old = try #require(try log.file.read(log.realm))
        try await log.append(10)
        try await log.sealer.sealOnce()
        try log.attack(
            "delete from urd.event where position > 10",
            "delete from urd.checkpoint where size > 10",
            repairing: true)
        try log.file.write(old, of: log.realm)
        try await expectHalt(.lostCheckpoints(known: 20, found: 10), log, log.sealer)
        try await log.append(15)
        try await expectHalt(.lostCheckpoints(known: 20, found: 10), log, log.sealer)
    }

    @Test func `knows from the file after a restart that the database was set back`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack(
            "delete from urd.event where position > 10",
            "delete from urd.checkpoint where size > 10",
            repairing: true)
        try await expectHalt(.lostCheckpoints(known: 20, found: 10), log, log.makeSealer())
        try log.attack("delete from urd.checkpoint")
        try await expectHalt(.lostCheckpoints(known: 20, found: 0), log, log.makeSealer())
    }

    @Test func `knows that a realm vanished as a whole`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack(
            "delete from urd.event", "delete from urd.tile", "delete from urd.checkpoint",
            "delete from urd.stream", "delete from urd.realm_log")
        try await expectHalt(.logIsShorter(size: 20, head: 0), log, log.sealer)
        try await expectHalt(.logIsShorter(size: 20, head: 0), log, log.makeSealer())
    }

    @Test func `refuses a checkpoint that another key signed`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack("update urd.checkpoint set note = replace(note, '20', '21') where size = 20")
        try await log.append(1)
        try await expectHalt(.badCheckpoint(size: 20), log, log.sealer)
        try await expectHalt(.badCheckpoint(size: 20), log, log.makeSealer())
    }

    @Test func `refuses a stored tree that is not the one it signed`() async throws {
        let log = try await TamperedLog.sealed(300, every: 100)
        try log.attack("update urd.tile set hashes = overlay(hashes placing sha256('') from 33)")
        try await log.append(1)
        // In memory it knows better; the stored tree is read at a start and every minute.
        try await log.sealer.sealOnce()
        #expect(try log.state().sealed == 301)
        try await log.append(1)
        try await expectHalt(.changedTree(size: 301), log, log.makeSealer())
    }

    @Test func `refuses events that another node sealed and that are gone since`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        let other = log.directory + "-other"
        defer { try? removeFolder(other) }
        try await log.makeSealer(directory: other).sealOnce()
        try log.attack(TamperedLog.swap.replacing("150", with: "22").replacing("151", with: "23"))
        try await expectHalt(.changedTree(size: 30), log, log.sealer)
    }

    @Test func `refuses a file that it did not write`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        let good = try #require(try log.file.read(log.realm))
        try log.file.write(Array("nonsense".utf8), of: log.realm)
        try await log.append(1)
        try await expectHalt(.badFile, log, log.sealer)
        let keys = try await log.keyring.keys(of: log.realm)
        let signer = try #require(NoteSigner(name: "urd/tampered", key: keys.signing))
        for size in [15, 20] as [Int64] {
            let other = try Checkpoint(origin: "urd/tampered", size: size, root: Merkle.emptyRoot)
                .signed(by: signer)
            try log.file.write(other.note, of: log.realm)
            try await expectHalt(.fileDiffers(size: size), log, log.makeSealer())
        }
        try log.file.write(good, of: log.realm)
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == nil)
    }

    @Test func `goes on by itself once what was altered is as it was`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack("create table kept as select * from urd.event where position = 25")
        try log.attack("delete from urd.event where position = 25")
        let lines = Lines()
        let sealer = log.makeSealer(log: lines.log)
        for _ in 0..<3 { try await sealer.sealOnce() }
        #expect(lines.count("sealer.halted") == 1)
        try log.attack("insert into urd.event select * from kept")
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 30, head: 30, halt: nil))
        #expect(lines.count("sealer.resumed") == 1)
    }

    // MARK: - The file

    @Test func `brings a file up to date that is older or gone, as after a crash`() async throws {
        let log = try await TamperedLog.sealed(10, every: 10)
        let old = try #require(try log.file.read(log.realm))
        try await log.append(10)
        try await log.sealer.sealOnce()
        try log.file.write(old, of: log.realm)
        var sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == nil)
        #expect(try await log.file.read(log.realm) == last(log).note)
        try removeFolder(log.directory)
        sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == nil)
        #expect(try await log.file.read(log.realm) == last(log).note)
    }

    @Test func `seals on and complains where no file can be written`() async throws {
        let log = try TamperedLog()
        try await log.append(10)
        let lines = Lines()
        let sealer = log.makeSealer(directory: "/nowhere/to/be/found", log: lines.log)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 10, head: 10, halt: nil))
        #expect(lines.count("sealer.file.failed") == 1)
    }

    @Test func `seals other realms while one has no usable keys`() async throws {
        let log = try await TamperedLog.sealed(10, every: 10)
        try log.attack(
            "insert into urd.realm_log (realm, position) values ('broken', 5)",
            """
            insert into urd.realm_key (realm, purpose, version, master, wrapped)
            values ('broken', 'sign', 1, '\\x00', '\\x00')
            """)
        try await log.append(10)
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.sealed == 20)
        let broken = try #require(RealmID("broken"))
        #expect(sealer.states[broken] == SealingState(sealed: 0, head: 5, halt: nil))
    }

    // MARK: - Privileges

    @Test(arguments: ["tile", "checkpoint"])
    func `leaves behind what nobody may change`(_ table: String) async throws {
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

/// Keeps log lines for a test to look at.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var log: Log {
        Log(
            sink: Log.Sink { [self] line, _ in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            })
    }

    func count(_ event: String) -> Int {
        lines.withLock { $0.count { $0.contains("\"\(event)\"") } }
    }
}
