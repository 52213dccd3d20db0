import Postgres

/// What the reading thread hands to the hashing thread.
enum VerificationWork: Sendable {
    /// What is stored about the positions that come next.
    case page(Page)
    /// Rows of a binary COPY, end to end.
    case rows(Rows)
    case end

    struct Page: Sendable {
        let last: Int64
        var tiles: [TilePlace: [TreeHash]]
        /// The checkpoints in ascending order.
        var checkpoints: [Stored]
    }

    struct TilePlace: Hashable, Sendable {
        let level: Int
        let index: Int64
    }

    /// A checkpoint that the log should have had at a size.
    struct Stored: Sendable {
        let size: Int64
        /// Nil: it has no good signature.
        let signed: SignedCheckpoint?
        let isFile: Bool
    }

    struct Rows: Sendable {
        var bytes: [UInt8] = []
        var ends: [Int] = []
    }
}

/// A short queue between two threads. The reader waits while it is full; once the
/// verifier has stopped, it throws the rest away.
final class VerificationQueue: Sendable {
    private struct State: Sendable {
        var work: [VerificationWork] = []
        var isStopped = false
    }

    private static let capacity = 16
    private let state = Monitor(State())

    /// Puts work into the queue; false: the verifier wants no more.
    func put(_ work: VerificationWork) -> Bool {
        let isWanted = state.wait { state -> Bool? in
            if state.isStopped { return false }
            guard state.work.count < VerificationQueue.capacity else { return nil }
            state.work.append(work)
            return true
        }
        state.wakeAll()
        return isWanted
    }

    func take() -> VerificationWork {
        let work = state.wait { $0.work.isEmpty ? nil : $0.work.removeFirst() }
        state.wakeAll()
        return work
    }

    func stop() {
        state.withLock {
            $0.isStopped = true
            $0.work = []
        }
        state.wakeAll()
    }
}
