import EventSourcing
import LogTesting
import Synchronization
import Values

/// A log in memory that knows its realms and fails when it is told to.
final class WatchedLog: EventLog {
    private let base = MemoryLog()
    private let known = Mutex<Set<RealmID>>([])
    private let broken = Mutex<LogFailure?>(nil)
    private let stuck = Mutex<LogFailure?>(nil)
    private let appended = Mutex<Int64>(0)
    private let claims = Mutex<[Claim]>([])
    private let sought = Mutex<Int>(0)
    private let held = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

    /// Moves with everything that is appended.
    var revision: Int64 { appended.withLock { $0 } }

    /// The kinds of all claims that were taken.
    var takenKinds: [String] { claims.withLock { $0.map(\.kind) } }

    /// How often a client was looked up.
    var lookups: Int { sought.withLock { $0 } }

    func countLookup() { sought.withLock { $0 += 1 } }

    var realms: [RealmID] { known.withLock { $0.sorted() } }

    /// From now on everything throws this, or whatever is to be appended.
    func fail(with failure: LogFailure?, onlyAppends: Bool = false) {
        broken.withLock { $0 = onlyAppends ? nil : failure }
        stuck.withLock { $0 = failure }
    }

    func check() throws(LogFailure) {
        if let failure = broken.withLock({ $0 }) { throw failure }
    }

    /// What is appended from now on waits until it is released: the log is there, and slow.
    func hold() { held.withLock { $0 = [] } }

    var waiting: Int { held.withLock { $0?.count ?? 0 } }

    func release() {
        let waiting = held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        for one in waiting { one.resume() }
    }

    private func passGate() async {
        await withCheckedContinuation { waiting in
            let isHeld = held.withLock { held in
                held?.append(waiting)
                return held != nil
            }
            if !isHeld { waiting.resume() }
        }
    }

    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        try check()
        if let failure = stuck.withLock({ $0 }) { throw failure }
        await passGate()
        known.withLock { _ = $0.insert(commit.realm) }
        let outcome = try await base.append(commit)
        appended.withLock { $0 += 1 }
        claims.withLock { claims in
            for case .take(let claim, _) in commit.claims { claims.append(claim) }
        }
        return outcome
    }

    func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        try check()
        return try await base.outcome(of: command, digest: digest, in: realm)
    }

    func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try check()
        return try await base.stream(stream, after: version, in: realm)
    }

    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try check()
        return try await base.events(from: position, limit: limit, in: realm)
    }

    func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try check()
        return try await base.head(of: realm)
    }

    func latestTime(in realm: RealmID) -> Timestamp? { base.latestTime(in: realm) }
}
