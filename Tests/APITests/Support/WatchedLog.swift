import EventSourcing
import EventStore
import LogTesting
import Synchronization
import Values

/// A log in memory that knows its realms and fails when it is told to.
final class WatchedLog: EventLog {
    private let base = MemoryLog()
    let hub = CommitHub()
    private let known = Mutex<Set<RealmID>>([])
    private let broken = Mutex<LogFailure?>(nil)
    private let stuck = Mutex<LogFailure?>(nil)
    private let appended = Mutex<Int64>(0)
    private let places = Mutex(false)

    /// Whether where addresses are is known, and so has to be said.
    var isPlaced: Bool {
        get { places.withLock { $0 } }
        set { places.withLock { $0 = newValue } }
    }

    private let behind = Mutex<Int64>(0)
    /// How far the lists that follow it are behind.
    var lag: Int64 {
        get { behind.withLock { $0 } }
        set { behind.withLock { $0 = newValue } }
    }

    private let claims = Mutex<[Claim]>([])
    private let sought = Mutex<Int>(0)
    private let read = Mutex<Int>(0)
    private let held = Mutex<[CheckedContinuation<Void, Never>]?>(nil)
    /// How many streams are still read before the reading is held up, where it is.
    private let readsLeft = Mutex<Int?>(nil)
    /// How many reads fail after the next append.
    private let failures = Mutex<(armed: Int, left: Int)>((0, 0))
    private let failure = Mutex(LogFailure.unavailable)
    /// How many reads still succeed before the one that fails, where one does.
    private let readsBeforeFailure = Mutex<Int?>(nil)

    /// Moves with everything that is appended.
    var revision: Int64 { appended.withLock { $0 } }

    /// The kinds of all claims that were taken.
    var takenKinds: [String] { claims.withLock { $0.map(\.kind) } }

    /// How many pages of the log were read.
    var pagesRead: Int { read.withLock { $0 } }

    /// How often a client was looked up.
    var lookups: Int { sought.withLock { $0 } }

    func countLookup() { sought.withLock { $0 += 1 } }

    var realms: [RealmID] { known.withLock { $0.sorted() } }

    private let readAtPlaces = Mutex<Int>(0)

    /// How often events were read by their positions.
    var placesRead: Int { readAtPlaces.withLock { $0 } }

    func events(
        at positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        readAtPlaces.withLock { $0 += 1 }
        return try await base.events(at: positions, in: realm)
    }

    private let scanEnd = Mutex<Int64?>(nil)

    /// Where lists with filters stop, because they take too long.
    var scanStop: Int64? { scanEnd.withLock { $0 } }

    func stopScans(at position: Int64?) { scanEnd.withLock { $0 = position } }

    /// From now on everything throws this, or whatever is to be appended.
    func fail(with failure: LogFailure?, onlyAppends: Bool = false) {
        broken.withLock { $0 = onlyAppends ? nil : failure }
        stuck.withLock { $0 = failure }
    }

    func check() throws(LogFailure) {
        if let failure = broken.withLock({ $0 }) { throw failure }
    }

    /// A standby takes over that has the log up to a position alone.
    func failOver(_ realm: RealmID, keeping position: Int64) async throws {
        base.failOver(realm, keeping: position)
        hub.publish(try await base.head(of: realm), of: realm)
    }

    /// What was sealed for a subject cannot be read any more.
    func erase(_ subject: UUID, in realm: RealmID) { base.erase(subject, in: realm) }

    /// What is appended from now on waits until it is released: the log is there, and slow.
    func hold() { held.withLock { $0 = [] } }

    /// Streams are read so many times more; what is read then waits until it is released.
    func hold(fromRead number: Int) {
        readsLeft.withLock { $0 = number }
        hold()
    }

    /// Once something was appended, so many reads fail.
    func failReads(_ count: Int, with failure: LogFailure = .unavailable) {
        self.failure.withLock { $0 = failure }
        failures.withLock { $0 = (count, 0) }
    }

    /// So many reads succeed, and the next one fails.
    func failRead(_ number: Int) { readsBeforeFailure.withLock { $0 = number } }

    /// Whether it has not come to the read that is to fail.
    var isReadToFail: Bool { readsBeforeFailure.withLock { $0 != nil } }

    private func checkReads() throws(LogFailure) {
        let isTheOne = readsBeforeFailure.withLock { left in
            guard let count = left else { return false }
            left = count == 0 ? nil : count - 1
            return count == 0
        }
        if isTheOne { throw .unavailable }
        let fails = failures.withLock { failures in
            guard failures.left > 0 else { return false }
            failures.left -= 1
            return true
        }
        if fails { throw failure.withLock { $0 } }
    }

    private func passReading() async {
        let isHeld = readsLeft.withLock { left in
            guard let count = left else { return false }
            left = max(0, count - 1)
            return count == 0
        }
        if isHeld { await passGate() }
    }

    var waiting: Int { held.withLock { $0?.count ?? 0 } }

    func release() {
        readsLeft.withLock { $0 = nil }
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
        if readsLeft.withLock({ $0 }) == nil { await passGate() }
        known.withLock { _ = $0.insert(commit.realm) }
        checkPlaces(of: commit)
        let outcome = try await base.append(commit)
        appended.withLock { $0 += 1 }
        claims.withLock { claims in
            for case .take(let claim, _) in commit.claims { claims.append(claim) }
        }
        if case .won(let positions) = outcome {
            hub.publish(
                Head(epoch: positions.epoch, position: positions.last), of: commit.realm)
            failures.withLock { $0 = (0, $0.armed) }
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
        await passReading()
        try checkReads()
        return try await base.stream(stream, after: version, in: realm)
    }

    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try check()
        try checkReads()
        return try await base.events(from: position, limit: limit, in: realm)
    }

    func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try check()
        try checkReads()
        read.withLock { $0 += 1 }
        return try await base.page(from: position, limit: limit, in: realm)
    }

    func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try check()
        return try await base.head(of: realm)
    }

    func latestTime(in realm: RealmID) -> Timestamp? { base.latestTime(in: realm) }
}
