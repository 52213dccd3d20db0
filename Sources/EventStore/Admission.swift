import EventSourcing
import Values

/// A command that waits for its outcome.
final class Pending: Sendable {
    typealias Answer = Result<AppendOutcome, LogFailure>

    let commit: EncodedCommit
    private let continuation: UnsafeContinuation<Answer, Never>

    init(_ commit: EncodedCommit, _ continuation: UnsafeContinuation<Answer, Never>) {
        self.commit = commit
        self.continuation = continuation
    }

    /// Answers the command exactly once.
    func settle(_ answer: Answer) {
        continuation.resume(returning: answer)
    }
}

/// Commands that go to the database together: of one realm and one epoch, none depending on
/// another.
struct Batch: Sendable {
    let realm: RealmID
    var commands: [Pending]

    /// What their decisions believed in.
    var epoch: Int { commands.first?.commit.epoch ?? 0 }
    var isAlone: Bool { commands.count == 1 }
    /// Sent for the second time, because the connection broke before the outcome of the first.
    var isResent = false
    /// Each command gets an outcome of its own. Otherwise all are supposed to win.
    var isJudged = false
}

/// Who waits for which realm, and which lane may serve it. A state machine without a lock or a
/// clock of its own.
///
/// A realm belongs to one lane while a batch of it is in the air, so that its batches never meet in
/// the database. Realms take turns batch by batch, so that a busy one delays no other for longer
/// than one batch.
struct Admission: Sendable {
    struct Limits: Sendable {
        /// Commands that wait, of all realms. One realm may have half of the places.
        var waiting = 8192
        var commands = 256
        var bytes = 1 << 20
    }

    private struct Owner {
        let lane: Int
        var flights: Int
    }

    private let limits: Limits
    private var queues: [RealmID: [Pending]] = [:]
    /// Realms with something waiting, next turn first.
    private var turns: [RealmID] = []
    private var owners: [RealmID: Owner] = [:]
    private(set) var waiting = 0
    /// The lanes that are to see whether a commit gets through.
    var trials: Set<Int> = []
    var isClosed = false

    init(_ limits: Limits) {
        self.limits = limits
    }

    enum Admitted {
        case refused
        /// The lane that has the realm will see it.
        case queued
        /// An idle lane should hear of it.
        case queuedForAny
    }

    mutating func admit(_ pending: Pending) -> Admitted {
        let realm = pending.commit.realm
        let count = queues[realm]?.count ?? 0
        guard !isClosed, waiting < limits.waiting, count < max(1, limits.waiting / 2) else {
            return .refused
        }
        waiting += 1
        queues[realm, default: []].append(pending)
        if count == 0 { turns.append(realm) }
        return owners[realm] == nil ? .queuedForAny : .queued
    }

    /// Takes a command that its caller gave up out of the queue. False where it is not in it: it
    /// may be in the air.
    mutating func withdraw(_ pending: Pending) -> Bool {
        let realm = pending.commit.realm
        guard let place = queues[realm]?.firstIndex(where: { $0 === pending }) else { return false }
        queues[realm]?.remove(at: place)
        waiting -= 1
        if queues[realm]?.isEmpty == true {
            queues[realm] = nil
            turns.removeAll { $0 == realm }
        }
        return true
    }

    /// The next batch that this lane may send.
    mutating func take(lane: Int) -> Batch? {
        guard
            let turn = turns.firstIndex(where: { owners[$0] == nil || owners[$0]?.lane == lane })
        else { return nil }
        let realm = turns.remove(at: turn)
        let batch = form(realm)
        owners[realm, default: Owner(lane: lane, flights: 0)].flights += 1
        if queues[realm] != nil { turns.append(realm) }
        return batch
    }

    /// A batch has landed.
    mutating func land(_ realm: RealmID) {
        owners[realm]?.flights -= 1
        if owners[realm]?.flights == 0 { owners[realm] = nil }
    }

    mutating func drain() -> [Pending] {
        defer {
            queues = [:]
            turns = []
            waiting = 0
        }
        return queues.values.flatMap { $0 }
    }

    /// Takes from the front of a realm's queue the commands that fit in one batch. What depends on
    /// a command before it waits for the next: it may lose by then, and must see why.
    private mutating func form(_ realm: RealmID) -> Batch {
        var queue = queues.removeValue(forKey: realm) ?? []
        if queue.count == 1 {
            waiting -= 1
            return Batch(realm: realm, commands: queue)
        }
        var touched = Touched()
        var taken: [Pending] = []
        var left: [Pending] = []
        var bytes = 0
        var seen = 0
        for pending in queue {
            guard taken.count < limits.commands, bytes < limits.bytes, seen < 2 * limits.commands
            else { break }
            seen += 1
            if touched.admits(pending.commit) {
                taken.append(pending)
                bytes += pending.commit.size
            } else {
                left.append(pending)
            }
        }
        left.append(contentsOf: queue.dropFirst(seen))
        queue = left
        if !queue.isEmpty { queues[realm] = queue }
        waiting -= taken.count
        return Batch(realm: realm, commands: taken)
    }
}

/// What the commands of a batch under construction write.
private struct Touched {
    private struct ClaimKey: Hashable {
        let kind: String
        let key: [UInt8]
    }

    private var epoch: Int?
    private var commands: Set<UUID> = []
    private var streams: Set<UUID> = []
    private var claims: Set<ClaimKey> = []

    /// Notes a command and says yes, unless it must not share a batch with those before it.
    mutating func admits(_ commit: EncodedCommit) -> Bool {
        guard epoch == nil || epoch == commit.epoch, !commands.contains(commit.command),
            !commit.reads.contains(where: { streams.contains($0.stream) }),
            !commit.claims.contains(where: { claims.contains(.init(kind: $0.kind, key: $0.key)) })
        else { return false }
        epoch = commit.epoch
        commands.insert(commit.command)
        for read in commit.reads where read.events > 0 { streams.insert(read.stream) }
        for claim in commit.claims { claims.insert(.init(kind: claim.kind, key: claim.key)) }
        return true
    }
}
