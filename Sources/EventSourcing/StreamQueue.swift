import Synchronization
import Values

/// Queues commands that lost a race, by the streams that they lost it for: one writer of a stream at a
/// time, any number of those who only read it. First come, first served.
///
/// The log decides who wins; this only keeps commands of one node from losing to each other for ever.
final class StreamQueue: Sendable {
    /// The streams for which a command queues. A reader of a stream that does not write it keeps no
    /// other reader waiting.
    struct StreamSet: Equatable {
        var writes: Set<UUID> = []
        var reads: Set<UUID> = []

        func covers(_ other: StreamSet) -> Bool {
            other.writes.isSubset(of: writes) && other.reads.isSubset(of: reads.union(writes))
        }

        mutating func add(_ other: StreamSet) {
            writes.formUnion(other.writes)
            reads.formUnion(other.reads)
            reads.subtract(writes)
        }
    }

    private struct Key: Hashable {
        let realm: RealmID
        let stream: UUID
    }

    private struct Waiter {
        let isWriter: Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The commands inside and waiting, for one stream. A gate exists only while a command is
    /// inside.
    private struct Gate {
        var hasWriter = false
        var readers = 0
        var waiting: [Waiter] = []

        var isFree: Bool { !hasWriter && readers == 0 }
        var isWanted: Bool { hasWriter || waiting.contains(where: \.isWriter) }

        mutating func admits(writer: Bool) -> Bool {
            guard writer ? isFree : !hasWriter else { return false }
            if writer { hasWriter = true } else { readers += 1 }
            return true
        }

        /// The next ones in line, who are inside from now on.
        mutating func next() -> [Waiter] {
            var admitted: [Waiter] = []
            while let first = waiting.first, admits(writer: first.isWriter) {
                admitted.append(waiting.removeFirst())
            }
            return admitted
        }
    }

    private let gates = Mutex<[Key: Gate]>([:])

    func pass<Value>(
        _ line: StreamSet, in realm: RealmID, _ body: () async throws -> Value
    ) async rethrows -> Value {
        // Everybody enters in the same order, so that no two wait for each other.
        let streams = line.writes.union(line.reads).sorted()
        for stream in streams {
            await enter(Key(realm: realm, stream: stream), asWriter: line.writes.contains(stream))
        }
        defer {
            for stream in streams {
                leave(Key(realm: realm, stream: stream), asWriter: line.writes.contains(stream))
            }
        }
        return try await body()
    }

    /// Whether no command is on its way through, which is nearly always.
    var isIdle: Bool { gates.withLock(\.isEmpty) }

    /// The part of a line where others are on their way through: better to stand behind them.
    func taken(_ line: StreamSet, in realm: RealmID) -> StreamSet {
        gates.withLock { gates in
            StreamSet(
                writes: line.writes.filter { gates[Key(realm: realm, stream: $0)] != nil },
                reads: line.reads.filter {
                    gates[Key(realm: realm, stream: $0)]?.isWanted ?? false
                })
        }
    }

    private func enter(_ key: Key, asWriter isWriter: Bool) async {
        await withCheckedContinuation { continuation in
            let isInside = gates.withLock { gates in
                var gate = gates[key] ?? Gate()
                let isInside = gate.waiting.isEmpty && gate.admits(writer: isWriter)
                if !isInside {
                    gate.waiting.append(Waiter(isWriter: isWriter, continuation: continuation))
                }
                gates[key] = gate
                return isInside
            }
            if isInside { continuation.resume() }
        }
    }

    private func leave(_ key: Key, asWriter isWriter: Bool) {
        let admitted = gates.withLock { gates -> [Waiter] in
            guard var gate = gates[key] else { return [] }
            if isWriter { gate.hasWriter = false } else { gate.readers -= 1 }
            let admitted = gate.next()
            gates[key] = gate.isFree ? nil : gate
            return admitted
        }
        for waiter in admitted { waiter.continuation.resume() }
    }
}
