import EventSourcing
import EventStore
import Foundation
import JSON
import PostgresTesting
import Testing
import Values

/// A small file system in memory, where the tests may mount one.
private enum SmallDisk {
    static let isPossible: Bool = {
        let folder = "/tmp/urd-disk-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        defer { rmdir(folder) }
        guard Program.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder) else {
            return false
        }
        return Program.run("umount", folder)
    }()
}

@Suite(.enabled(if: SmallDisk.isPossible, "To fill a disk one must be able to mount a small one."))
struct `When the disk is full` {
    @Test func `a full disk makes writes unavailable, while reads go on and no event is lost`()
        async throws
    {
        let cluster = try TestCluster(settings: ["fsync=on", "max_wal_size=32MB"])
        let data = "\(cluster.folder)/data"
        try await offPool {
            try cluster.stop()
            let isMoved =
                Program.run("mv", data, "\(data)0")
                && Program.run("mkdir", data)
                && Program.run("mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", data)
                && Program.run("cp", "-a", "\(data)0/.", data)
                && Program.run("chown", "--reference=\(data)0", data)
                && Program.run("chmod", "--reference=\(data)0", data)
            #expect(isMoved)
            try cluster.start()
        }
        defer {
            try? cluster.stop(immediate: true)
            Program.run("umount", "-l", data)
        }
        try await fillAndFree(cluster, data)
    }

    private func fillAndFree(_ cluster: TestCluster, _ data: String) async throws {
        let store = try TestStore(cluster)
        defer { store.log.close() }
        let realm = newRealm()
        var acknowledged: [UUID: Positions] = [:]
        func append() async throws -> LogFailure? {
            // Large enough to need new pages before long.
            let next = commit(
                to: newID(), in: realm,
                open: ["text": .string((0..<400).map { _ in newID().description }.joined())])
            switch await ending(store.log, next) {
            case .success(let outcome):
                acknowledged[next.command] = try expectWon(outcome)
                return nil
            case .failure(let failure): return failure
            }
        }
        for _ in 0..<20 { #expect(try await append() == nil) }

        let trying = Task { try await store.log.tryCommits(every: .milliseconds(10)) }
        defer { trying.cancel() }
        try await eventually("commits get through") { store.log.commitFault == nil }
        let filler = "\(data)/filler"
        Program.run("dd", "if=/dev/zero", "of=\(filler)", "bs=4k", "status=none")
        var failure: LogFailure?
        for _ in 0..<2_000 where failure == nil { failure = try await append() }
        #expect(failure == .full)
        // Reads go on.
        let count = acknowledged.count
        #expect(try await store.log.head(of: realm).position == Int64(count))
        #expect(try await store.log.events(from: 1, limit: 5_000, in: realm).count == count)
        #expect(try await append() == .full)
        // Also where nobody writes.
        try await eventually("a trial finds the disk full") {
            store.log.commitFault?.hasSuffix("the database's disk is full (53100)") == true
        }
        #expect(store.log.appendRefusal?.hasSuffix("the database's disk is full (53100)") == true)

        try FileManager.default.removeItem(atPath: filler)
        try await eventually("the log goes on") { try await append() == nil }
        try await eventually("commits get through again") { store.log.commitFault == nil }
        #expect(store.log.appendRefusal == nil)
        for (command, positions) in acknowledged {
            let known = try await store.log.outcome(of: command, digest: [], in: realm)
            #expect(known == .duplicate(positions))
        }
        let session = try await Session(store.database.superuser)
        let audit = LogAudit(session: session, keyring: store.keyring, realm: realm)
        #expect(try await audit.run() == acknowledged.count)
    }
}
