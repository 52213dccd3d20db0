import EventSourcing
import Testing

@testable import EventStore

@Suite(.serialized) struct `A sealer that finds the log altered` {
    /// Expects that a round after an attack halts, signs nothing, and says so.
    private func expectHalt(
        _ halt: Halt, _ log: TamperedLog, _ sealer: Sealer
    ) async throws {
        let before = try log.count("checkpoint")
        let file = try log.file.read(log.realm)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == halt)
        #expect(try log.count("checkpoint") == before)
        #expect(try log.file.read(log.realm) == file)
    }

    @Test func `the sealer halts at an event that the application did not write`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack("update urd.event set mac = sha256('') where position = 25")
        try await expectHalt(.forgedEvent(position: 25), log, log.sealer)
        try await expectHalt(.forgedEvent(position: 25), log, log.makeSealer())
    }

    @Test func `the sealer halts at a hole in the log`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack("delete from urd.event where position = 25")
        try await expectHalt(.missingEvent(position: 25), log, log.sealer)
    }

    @Test func `the sealer halts where the newest sealed event changed`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        try log.attack(
            """
            update urd.event e set leaf = o.leaf, mac = o.mac from urd.event o
            where e.position = 20 and o.position = 3
            """)
        try await expectHalt(.changedEvent(position: 20), log, log.sealer)
    }

    @Test func `the sealer halts at a lost tail`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack("delete from urd.event where position > 15", repairing: true)
        try await expectHalt(.logIsShorter(size: 20, head: 15), log, log.sealer)
    }

    @Test func `the sealer remembers what it signed, although database and file were set back`()
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

    @Test func `the sealer knows after a restart from its file that the database was set back`()
        async throws
    {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack(
            "delete from urd.event where position > 10",
            "delete from urd.checkpoint where size > 10",
            repairing: true)
        try await expectHalt(.lostCheckpoints(known: 20, found: 10), log, log.makeSealer())
        try log.attack("delete from urd.checkpoint")
        try await expectHalt(.lostCheckpoints(known: 20, found: 0), log, log.makeSealer())
    }

    @Test func `the sealer halts where a whole realm vanished`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack(
            "delete from urd.event", "delete from urd.tile", "delete from urd.checkpoint",
            "delete from urd.stream", "delete from urd.realm_log")
        try await expectHalt(.logIsShorter(size: 20, head: 0), log, log.sealer)
        try await expectHalt(.logIsShorter(size: 20, head: 0), log, log.makeSealer())
    }

    @Test func `the sealer halts at a checkpoint that another key signed`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack("update urd.checkpoint set note = replace(note, '20', '21') where size = 20")
        try await log.append(1)
        try await expectHalt(.badCheckpoint(size: 20), log, log.sealer)
        try await expectHalt(.badCheckpoint(size: 20), log, log.makeSealer())
    }

    @Test func `the sealer halts at a stored tree that is not the signed one`() async throws {
        let log = try await TamperedLog.sealed(300, every: 100)
        try log.attack("update urd.tile set hashes = overlay(hashes placing sha256('') from 33)")
        try await log.append(1)
        // In memory it knows better; the stored tree is read at a start and every minute.
        try await log.sealer.sealOnce()
        #expect(try log.state().sealed == 301)
        try await log.append(1)
        try await expectHalt(.changedTree(size: 301), log, log.makeSealer())
    }

    @Test func `the sealer halts where events sealed by another node are gone`() async throws {
        let log = try await TamperedLog.sealed(20, every: 10)
        try await log.append(10)
        let other = log.directory + "-other"
        defer { try? removeFolder(other) }
        try await log.makeSealer(directory: other).sealOnce()
        try log.attack(TamperedLog.swap.replacing("150", with: "22").replacing("151", with: "23"))
        try await expectHalt(.changedTree(size: 30), log, log.sealer)
    }

    @Test func `the sealer halts at a file that it did not write`() async throws {
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

    @Test func `the sealer resumes by itself once the altered log is restored`() async throws {
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
}
