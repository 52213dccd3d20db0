import Cryptography
import EventSourcing
import Testing

@testable import EventStore

/// Events that a dump kept, and how many of them it had sealed.
private let places: [(Int64, Int64)] = [
    (0, 0), (1, 0), (255, 200), (255, 255), (256, 200), (256, 256), (257, 200), (257, 256),
    (511, 256), (512, 256), (512, 500), (512, 512), (513, 512), (600, 512), (699, 600),
]

@Suite(.serialized) struct `A log that was set back` {
    @Test(arguments: places)
    func `a log that was set back has lost the tail behind its last event`(
        kept: Int64, sealed: Int64
    ) async throws {
        let log = try TamperedLog()
        // Signed where the database is set back to as well as behind it.
        for step in [sealed, 700 - sealed] where step > 0 {
            try await log.append(Int(step))
            try await log.sealer.sealOnce()
        }
        try log.setBack(to: kept, sealed: sealed)
        let found = try await log.verifier.verify(log.realm).finding
        #expect(found == Finding(.droppedTail, at: kept + 1, notBefore: sealed + 1))
    }

    @Test func `a log that was set back lacks no tile of the remaining checkpoints`() async throws {
        let log = try await TamperedLog.sealed(600, every: 100)
        try log.attack("delete from urd.checkpoint where size > 500")
        try log.attack("delete from urd.tile where index = 0")
        let found = try await log.verifier.verify(log.realm).finding
        #expect(found == Finding(.tileChanged, at: 1))
    }

    @Test func `a log that was set back moves to another epoch once, without a new timeline too`()
        async throws
    {
        let log = try await TamperedLog.sealed(300, every: 100)
        #expect(try await log.newest().checkpoint.epoch == 1)
        try log.setBack(to: 150, sealed: 100)
        let other = log.makeSealer()
        try await log.sealer.sealOnce()
        let moved = try log.epoch()
        #expect(moved > 1000)
        for sealer in [log.sealer, log.makeSealer(), log.makeSealer(), other, other] {
            try await sealer.sealOnce()
            #expect(sealer.states[log.realm]?.halt == .lostCheckpoints(known: 300, found: 100))
            #expect(try log.epoch() == moved)
        }
        // A failover is seen by the timeline already.
        try log.attack("update urd.realm_log set epoch = epoch + 1")
        try await other.sealOnce()
        #expect(try log.epoch() == moved + 1)
    }

    @Test func `a log that was set back is not sealed before its loss is accepted`() async throws {
        let log = try await TamperedLog.sealed(300, every: 100)
        try log.setBack(to: 150, sealed: 100)
        let halt = Halt.lostCheckpoints(known: 300, found: 100)
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == halt)
        // By whom has the database alone; of less than was lost; of what came before another loss.
        let key = HMACKey([UInt8](repeating: 7, count: 32))
        try await log.accept(AcceptedLoss(size: 300, epoch: 2, sealed: 100, head: 150), key: key)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == halt)
        try log.setBack(to: 150, sealed: 100)
        try await log.accept(AcceptedLoss(size: 299, epoch: 2, sealed: 100, head: 150))
        try await log.accept(AcceptedLoss(size: 300, epoch: 1, sealed: 100, head: 150))
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == halt)
        #expect(try await !log.verifier.verify(log.realm).isIntact)
        try await log.accept(AcceptedLoss(size: 300, epoch: 2, sealed: 100, head: 150))
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 153, head: 153, halt: nil))
        #expect(try await log.verifier.verify(log.realm).isIntact)
    }

    @Test func `a loss is named whole where a node that knew nothing of it has sealed since`()
        async throws
    {
        let log = try await TamperedLog.sealed(154, every: 77)
        try log.setBack(to: 114, sealed: 77)
        // A node that has the copy notices; one that has none seals what is there, and what is new.
        try await log.sealer.sealOnce()
        try await log.append(36)
        let elsewhere = log.directory + "-elsewhere"
        defer { try? removeFolder(elsewhere) }
        try await log.makeSealer(directory: elsewhere).sealOnce()
        let found = try await LogLoss.look(
            at: log.realm, log.pool, keyring: log.keyring, directory: log.directory)
        #expect(found.copy == 154 && !found.isCopyOfThisLog)
        #expect(found.sealed == 150 && found.shared == 77)
        // A copy that was signed since then is of this log.
        let later = try await LogLoss.look(
            at: log.realm, log.pool, keyring: log.keyring, directory: elsewhere)
        #expect(later.isCopyOfThisLog && later.shared == 150)
    }

    @Test func `a loss is named whole where a node without the copy sealed before anybody noticed`()
        async throws
    {
        let log = try await TamperedLog.sealed(154, every: 77)
        try log.setBack(to: 114, sealed: 77)
        try log.attack("update urd.checkpoint set at = at - interval '2 hours'")
        log.setCopyBack(minutes: 60)
        // No epoch has begun, so that nothing in the database tells what was appended before from what is new.
        try await log.append(36)
        let elsewhere = log.directory + "-elsewhere"
        defer { try? removeFolder(elsewhere) }
        try await log.makeSealer(directory: elsewhere).sealOnce()
        func look(_ directory: String) async throws -> LogLoss {
            try await LogLoss.look(
                at: log.realm, log.pool, keyring: log.keyring, directory: directory)
        }
        #expect(try log.epoch() == 1)
        var found = try await look(log.directory)
        #expect(found.copy == 154 && !found.isCopyOfThisLog)
        #expect(found.sealed == 150 && found.shared == 77)
        // The node with the copy notices after that: the epoch that begins then knows no better.
        try await log.sealer.sealOnce()
        #expect(try log.epoch() > 1)
        found = try await look(log.directory)
        #expect(found.shared == 77)
        // A copy whose file is newer than what it tells of says when it was written: nobody can know better.
        let copied = log.directory + "-copied"
        defer { try? removeFolder(copied) }
        let note = try #require(try log.file.read(log.realm))
        try CheckpointFile(directory: copied).write(note, of: log.realm)
        let late = try await look(copied)
        let (then, now) = (try #require(found.copiedAt), try #require(late.copiedAt))
        #expect(late.shared == 150 && now > then)
        let other = try await look(elsewhere)
        #expect(other.isCopyOfThisLog && other.shared == 150)
    }

    @Test func `a log that was set back is sealed by all running nodes once its loss is accepted`()
        async throws
    {
        let log = try await TamperedLog.sealed(200, every: 100)
        let late = log.directory + "-late"
        defer { try? removeFolder(late) }
        let old = try #require(try log.file.read(log.realm))
        try CheckpointFile(directory: late).write(old, of: log.realm)
        try await log.append(100)
        // Halted realms are looked at again after an hour: it is the acceptance that they hear of.
        let sealer = log.makeSealer(recheck: .seconds(3600))
        try await sealer.sealOnce()
        try log.setBack(to: 150, sealed: 100)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == .lostCheckpoints(known: 300, found: 100))
        try await log.accept(AcceptedLoss(size: 300, epoch: 2, sealed: 100, head: 150))
        // Verified also before the nodes have put their files right.
        #expect(try await log.verifier.verify(log.realm).isIntact)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 151, head: 151, halt: nil))
        let copy = try #require(try log.file.read(log.realm))
        let keys = try await log.keyring.keys(of: log.realm)
        #expect(keys.checkpoint(copy)?.size == 151)
        // The sealer has left the epoch in which the copy was signed, by a step of its own.
        #expect(try #require(keys.checkpoint(copy)).epoch > 1000)
        let aside = CheckpointFile(directory: log.directory).path(of: log.realm)
            .replacing(".checkpoint", with: ".given-up-300")
        #expect(exists(aside))
        // A node that was away, with a smaller copy of what is gone.
        let away = log.makeSealer(directory: late)
        try await away.sealOnce()
        #expect(away.states[log.realm] == SealingState(sealed: 151, head: 151, halt: nil))
        // The next loss is another one.
        try await log.append(100)
        try await sealer.sealOnce()
        let before = try log.epoch()
        try log.setBack(to: 180, sealed: 151)
        for next in [sealer, log.makeSealer()] {
            try await next.sealOnce()
            #expect(next.states[log.realm]?.halt == .lostCheckpoints(known: 251, found: 151))
        }
        #expect(try log.epoch() > before)
    }

    @Test func `a log that was set back goes on also where it was sealed past the loss`()
        async throws
    {
        let log = try await TamperedLog.sealed(300, every: 100)
        let fresh = log.directory + "-fresh"
        defer { try? removeFolder(fresh) }
        try log.setBack(to: 100, sealed: 100)
        let keys = try await log.keyring.keys(of: log.realm)
        // Other events than those that were there.
        try await log.accept(AcceptedLoss(size: 1, epoch: 1, sealed: 0, head: 0))
        try await log.append(300)
        try await log.makeSealer(directory: fresh).sealOnce()
        let node = log.makeSealer()
        try await node.sealOnce()
        #expect(node.states[log.realm]?.halt == .fileDiffers(size: 300))
        #expect(try log.epoch() > 1)
        try await log.accept(AcceptedLoss(size: 300, epoch: 2, sealed: 401, head: 401))
        for sealer in [node, log.sealer] {
            try await sealer.sealOnce()
            #expect(sealer.states[log.realm] == SealingState(sealed: 402, head: 402, halt: nil))
        }
        #expect(try log.file.read(log.realm).flatMap { keys.checkpoint($0) }?.size == 402)
    }

    @Test func `a log remade under other keys goes on once that is accepted`() async throws {
        let old = try await TamperedLog.sealed(20, every: 10)
        let log = try TamperedLog()
        let copy = try #require(try old.file.read(old.realm))
        try log.file.write(copy, of: log.realm)
        try await log.append(5)
        let sealer = log.makeSealer()
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == .badFile)
        try await log.accept(AcceptedLoss(size: 19, epoch: 2, sealed: 0, head: 5))
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm]?.halt == .badFile)
        try await log.accept(AcceptedLoss(size: 20, epoch: 2, sealed: 0, head: 6))
        #expect(try await log.verifier.verify(log.realm).isIntact)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == SealingState(sealed: 7, head: 7, halt: nil))
    }

    @Test func `a whole lost log is given up by moving its file away, without a restart`()
        async throws
    {
        let log = try await TamperedLog.sealed(20, every: 10)
        try log.attack(
            "delete from urd.event", "delete from urd.tile", "delete from urd.checkpoint",
            "delete from urd.stream", "delete from urd.realm_log")
        let lines = Lines()
        let sealer = log.makeSealer(log: lines.log)
        for _ in 0..<2 {
            try await sealer.sealOnce()
            #expect(sealer.states[log.realm]?.halt == .logIsShorter(size: 20, head: 0))
        }
        try log.file.setAside(log.realm)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == nil)
        #expect(lines.count("sealer.realm.forgotten") == 1)
        try await sealer.sealOnce()
        #expect(sealer.states[log.realm] == nil)
    }
}
