import EventSourcing
import LogTesting
import Synchronization
import Values

/// The log in memory, with somebody else at work: a script may act before any call and may answer
/// in the log's place.
final class ScriptedLog: EventLog {
    /// Called with the number of the append, from 1. What it returns or throws is the answer; nil
    /// lets the log answer.
    typealias Script = @Sendable (Int, MemoryLog) async throws(LogFailure) -> AppendOutcome?

    /// Called with the number of the read of a stream, from 1.
    typealias ReadScript = @Sendable (Int, MemoryLog) async throws(LogFailure) -> Void

    struct Calls: Equatable {
        var appends = 0
        var streamReads = 0
        var outcomes = 0
    }

    let log = MemoryLog()
    private let beforeAppend: Script
    private let beforeRead: ReadScript
    private let counted = Mutex(Calls())

    init(
        beforeAppend: @escaping Script = { _, _ throws(LogFailure) in nil },
        beforeRead: @escaping ReadScript = { _, _ throws(LogFailure) in }
    ) {
        self.beforeRead = beforeRead
        self.beforeAppend = beforeAppend
    }

    var calls: Calls { counted.withLock { $0 } }

    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        let number = counted.withLock {
            $0.appends += 1
            return $0.appends
        }
        if let answer = try await beforeAppend(number, log) { return answer }
        return try await log.append(commit)
    }

    func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        counted.withLock { $0.outcomes += 1 }
        return try await log.outcome(of: command, digest: digest, in: realm)
    }

    func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        let number = counted.withLock {
            $0.streamReads += 1
            return $0.streamReads
        }
        try await beforeRead(number, log)
        return try await log.stream(stream, after: version, in: realm)
    }

    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await log.events(from: position, limit: limit, in: realm)
    }

    func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try await log.page(from: position, limit: limit, in: realm)
    }

    func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try await log.head(of: realm)
    }

    func latestTime(in realm: RealmID) -> Timestamp? { log.latestTime(in: realm) }
}
