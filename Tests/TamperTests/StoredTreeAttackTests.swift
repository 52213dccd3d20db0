import Cryptography
import EventSourcing
import Testing

@testable import EventStore

/// Attacks on what is kept beside the events: tiles, checkpoints, heads, and the file.
@Suite(.serialized) struct `Verifying the stored tree` {
    private func finding(_ log: TamperedLog) async throws -> Finding? {
        try await log.verifier.verify(log.realm).finding
    }

    @Test func `verifying the stored tree names the hash of a tile that was changed`() async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(
            """
            update urd.tile set hashes = overlay(hashes placing sha256('') from 149 * 32 + 1)
            where level = 0 and index = 0
            """)
        #expect(try await finding(log) == Finding(.tileChanged, at: 150))
    }

    @Test func `verifying the stored tree names the first position of a tile that is gone`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("delete from urd.tile where index = 1")
        #expect(try await finding(log) == Finding(.tileChanged, at: 257))
    }

    @Test func `verifying the stored tree names a checkpoint with a foreign signature`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        let signer = try #require(NoteSigner(name: "urd/tampered", key: .generate()))
        let forged = try Checkpoint(origin: "urd/tampered", size: 300, root: Merkle.emptyRoot)
            .signed(by: signer)
        try log.attack(
            """
            update urd.checkpoint set root = sha256(''),
                note = convert_from(decode('\(hex(forged.note))', 'hex'), 'UTF8') where size = 300
            """)
        #expect(try await finding(log) == Finding(.checkpointForged, at: 300, notBefore: 201))
    }

    @Test(arguments: [
        "root = sha256('')", "note = replace(note, '300', '299')", "note = ''", "size = 299",
    ])
    func `verifying the stored tree names a checkpoint that was changed`(_ change: String)
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.checkpoint set \(change) where size = 300")
        let size: Int64 = change == "size = 299" ? 299 : 300
        #expect(try await finding(log) == Finding(.checkpointForged, at: size, notBefore: 201))
    }

    @Test func `verifying the stored tree names the position behind a head that was set back`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.realm_log set position = 650")
        #expect(try await finding(log) == Finding(.headDisagrees, at: 651))
    }

    @Test func `verifying the stored tree names a head position that the log does not have`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("update urd.realm_log set position = 705")
        #expect(try await finding(log) == Finding(.droppedTail, at: 701))
    }

    @Test func `verifying the stored tree names an event that its stream's version leaves out`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        // Position 1 + 7 × 20 is version 21 of the first stream.
        try log.attack(
            "update urd.stream set version = 20 where stream = '\(TamperedLog.streams[0])'")
        #expect(try await finding(log) == Finding(.streamDisagrees, at: 141))
        try log.attack("delete from urd.stream where stream = '\(TamperedLog.streams[0])'")
        #expect(try await finding(log) == Finding(.streamDisagrees, at: 1))
    }

    @Test func `verifying the stored tree names the end of a stream that claims more events`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack(
            "update urd.stream set version = 900 where stream = '\(TamperedLog.streams[0])'")
        #expect(try await finding(log) == Finding(.streamDisagrees, at: 701))
    }

    @Test func `verifying the stored tree reports a file that is not a checkpoint`() async throws {
        let log = try await TamperedLog.sealed()
        try log.file.write(Array("urd/tampered\n".utf8), of: log.realm)
        #expect(try await finding(log)?.problem == .fileUnreadable)
    }

    @Test func `verifying the stored tree reports a file that was signed over another log`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        let keys = try await log.keyring.keys(of: log.realm)
        let signer = try #require(NoteSigner(name: "urd/tampered", key: keys.signing))
        let other = try Checkpoint(origin: "urd/tampered", size: 650, root: Merkle.emptyRoot)
            .signed(by: signer)
        try log.file.write(other.note, of: log.realm)
        #expect(try await finding(log) == Finding(.fileDiffers, at: 650, notBefore: 601))
    }

    @Test func `verifying from a position reads the rest from the checkpoint before it`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        let whole = try await log.verifier.verify(log.realm, from: 455)
        #expect(whole.isIntact && whole.first == 401 && whole.last == 700)
        try log.attack("update urd.event set data = '{}' where position in (150, 650)")
        let rest = try await log.verifier.verify(log.realm, from: 455)
        #expect(rest.finding == Finding(.changed, at: 650))
        #expect(try await log.verifier.verify(log.realm).finding == Finding(.changed, at: 150))
    }

    @Test
    func `verifying from a position reads everything where no checkpoint vouches for the start`()
        async throws
    {
        let log = try await TamperedLog.sealed()
        try log.attack("delete from urd.tile")
        let verification = try await log.verifier.verify(log.realm, from: 555)
        #expect(verification.first == 1)
        #expect(verification.finding == Finding(.tileChanged, at: 1))
    }

    @Test func `verifying from a position notices a missing version before it`() async throws {
        let log = try await TamperedLog.sealed()
        try log.dropUniqueness()
        try log.attack("delete from urd.event where position = 400")
        let verification = try await log.verifier.verify(log.realm, from: 402)
        #expect(verification.first == 401)
        #expect(verification.finding == Finding(.versionGap, at: 407))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
