import EventSourcing
import Foundation
import JSON
import Testing

@testable import EventStore

/// The verifier that knows nothing of Urd, on what a real log hands out.
@Suite(.serialized) struct `A proof` {
    private struct Answer {
        let holds: Bool
        let words: String
    }

    private static let script =
        URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Interop/verify_log.py").path

    private func verify(_ arguments: String...) throws -> Answer {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-B", Self.script] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let words = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            holds: process.terminationStatus == 0, words: String(decoding: words, as: UTF8.self))
    }

    private func folder() throws -> String {
        let path =
            FileManager.default.temporaryDirectory.path
            + "/urd-proof-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    // MARK: - Inclusion and consistency

    @Test(arguments: [1, 256, 257, 699, 700] as [Int64])
    func `a proof of an event holds before an independent verifier`(_ position: Int64)
        async throws
    {
        let log = try await TamperedLog.sealed()
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        let key = try await proofs.verifier(of: log.realm).description
        let proof = try await proofs.inclusion(of: position, in: log.realm)
        #expect(proof.holds)
        #expect(proof.record == log.record(at: position).bytes)
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/proof.json"
        try write(proof.json.canonical(), file)
        let answer = try verify("proof", file, "--key", key)
        #expect(answer.holds, "\(answer.words)")
        #expect(answer.words.contains("position \(position) of urd/tampered (thing.happened)"))

        guard var members = proof.json.object else { return }
        members["position"] = .integer(position % 700 + 1)
        try write(JSON.object(members).canonical(), file)
        #expect(try !verify("proof", file, "--key", key).holds)
        members["position"] = .integer(position)
        members["record"] = "{}"
        try write(JSON.object(members).canonical(), file)
        #expect(try !verify("proof", file, "--key", key).holds)
    }

    @Test func `a proof of consistency holds between any two checkpoints`() async throws {
        let log = try await TamperedLog.sealed(400, every: 50)
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        let key = try await proofs.verifier(of: log.realm).description
        for (old, new) in [(50, 400), (100, 350), (350, 400), (400, 400)] as [(Int64, Int64)] {
            let proof = try await proofs.consistency(from: old, to: new, in: log.realm)
            #expect(proof.holds)
        }
        let proof = try await proofs.consistency(from: 150, in: log.realm)
        #expect(proof.new.size == 400)
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/proof.json"
        try write(proof.json.canonical(), file)
        let answer = try verify("proof", file, "--key", key)
        #expect(answer.holds, "\(answer.words)")
        guard var members = proof.json.object, let path = proof.json["path"]?.array else { return }
        members["path"] = .array(path.dropLast())
        try write(JSON.object(members).canonical(), file)
        #expect(try !verify("proof", file, "--key", key).holds)
    }

    @Test func `a proof of an unsealed or altered event is not given`() async throws {
        let log = try await TamperedLog.sealed()
        try await log.append(5)
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        for position in [.min, -1, 0, 701, .max] as [Int64] {
            await #expect(throws: ProofFailure.notSealed(sealed: 700)) {
                try await proofs.inclusion(of: position, in: log.realm)
            }
        }
        await #expect(throws: ProofFailure.noCheckpoint(size: 150)) {
            try await proofs.consistency(from: 150, in: log.realm)
        }
        await #expect(throws: ProofFailure.noCheckpoint(size: 100)) {
            try await proofs.consistency(from: 200, to: 100, in: log.realm)
        }
        try log.attack("update urd.event set data = '{}' where position = 150")
        await #expect(throws: ProofFailure.damaged) {
            try await proofs.inclusion(of: 150, in: log.realm)
        }
        try log.attack("delete from urd.event where position = 151")
        await #expect(throws: ProofFailure.missing(position: 151)) {
            try await proofs.inclusion(of: 151, in: log.realm)
        }
        let bundle = try #require(TileAddress(.entries, index: 0, width: 256))
        await #expect(throws: ProofFailure.missing(position: 151)) {
            try await proofs.content(of: bundle, in: log.realm)
        }
    }

    // MARK: - Export

    @Test(arguments: [1, 2, 300, 601] as [Int64])
    func `a log's export is verifiable from any position`(_ first: Int64) async throws {
        let log = try await TamperedLog.sealed()
        try await log.append(3)
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        let key = try await proofs.verifier(of: log.realm).description
        var export: [UInt8] = []
        try await proofs.export(log.realm, from: first) { export += $0 }
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/log.jsonl"
        try write(export, file)
        let answer = try verify("log", "--export", file, "--key", key)
        #expect(answer.holds, "\(answer.words)")
        #expect(answer.words.contains("positions \(first) to 700 of urd/tampered hold"))

        let lines = export.split(separator: 0x0A).map { Array($0) }
        // Position 690 is swapped with the one behind it, in records and checkpoints.
        let place = lines.count - 12
        var swapped = lines
        swapped.swapAt(place, place + 1)
        try write(Array(swapped.joined(separator: [0x0A])) + [0x0A], file)
        let refused = try verify("log", "--export", file, "--key", key)
        #expect(!refused.holds && refused.words.contains("signed root"), "\(refused.words)")
        var cut = lines
        cut.removeLast(5)
        try write(Array(cut.joined(separator: [0x0A])) + [0x0A], file)
        #expect(try !verify("log", "--export", file, "--key", key).holds)
        let other = try await LogProofs(
            log.pool, keyring: log.keyring, origin: "other"
        ).verifier(of: log.realm).description
        try write(export, file)
        #expect(try !verify("log", "--export", file, "--key", other).holds)
    }

    // MARK: - Tiles

    @Test(arguments: [1, 255, 256, 257, 700])
    func `a log's tiles prove the whole log`(_ size: Int) async throws {
        let log = try await TamperedLog.sealed(size, every: size)
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        let key = try await proofs.verifier(of: log.realm).description
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var tiles = TileFolder(root: folder)
        try await tiles.fill(from: proofs, log.realm)
        let answer = try verify("tiles", folder, "--key", key)
        #expect(answer.holds, "\(answer.words)")
        for path in tiles.paths {
            let whole = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(path)"))
            var altered = whole
            altered[altered.count / 2] ^= 1
            try altered.write(to: URL(fileURLWithPath: "\(folder)/\(path)"))
            #expect(try !verify("tiles", folder, "--key", key).holds, "\(path)")
            try whole.write(to: URL(fileURLWithPath: "\(folder)/\(path)"))
        }
    }

    @Test func `a log serves tiles of every width that was the last, and no others`() async throws {
        let log = try await TamperedLog.sealed()
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        func length(_ path: String) async throws -> Int? {
            let address = try #require(TileAddress(path: path))
            return try await proofs.content(of: address, in: log.realm)?.count
        }
        #expect(try await length("tile/0/000") == 8192)
        #expect(try await length("tile/0/000.p/100") == 3200)
        #expect(try await length("tile/0/002.p/188") == 188 * 32)
        #expect(try await length("tile/0/002.p/189") == nil)
        #expect(try await length("tile/0/002") == nil)
        #expect(try await length("tile/1/000.p/2") == 64)
        #expect(try await length("tile/1/000.p/3") == nil)
        #expect(try await length("tile/2/000.p/1") == nil)
        #expect(try await length("tile/entries/002.p/188") != nil)
        #expect(try await length("tile/entries/002.p/189") == nil)
    }

    @Test func `a log's bundle with an oversized record is not served`() async throws {
        let log = try await TamperedLog.sealed(10, every: 10)
        let filler = String(repeating: "x", count: 70_000)
        try log.attack("update urd.event set data = '{\"x\":\"\(filler)\"}' where position = 3")
        let proofs = LogProofs(log.pool, keyring: log.keyring)
        let address = try #require(TileAddress(.entries, index: 0, width: 10))
        await #expect(throws: ProofFailure.recordTooLong(position: 3)) {
            try await proofs.content(of: address, in: log.realm)
        }
    }
}
