/// A realm's epochs: where its log is, and after which position each of its epochs began. A failover or
/// a restore begins a new epoch, and may have taken the tail of the log away.
public struct EpochHistory: Sendable, Equatable {
    public struct Start: Sendable, Equatable {
        public let epoch: Int
        /// Up to this position the log is the one of every earlier epoch.
        public let after: Int64
        /// Whether something was signed in an earlier epoch that this one is known not to have.
        public let isLoss: Bool

        public init(epoch: Int, after: Int64, isLoss: Bool = false) {
            self.epoch = epoch
            self.after = after
            self.isLoss = isLoss
        }
    }

    /// How a reader's place stands to the log as it is.
    public enum Standing: Sendable, Equatable {
        /// What the reader has is in the log: the reader goes on, and need not know of a new epoch.
        case valid
        /// The reader's cursor is beyond the head of the log.
        case beyondHead
        /// The log went back behind the reader, who keeps what is up to this position, undoes the
        /// rest, and asks from there again.
        case lost(keptTo: Int64)
    }

    public let head: Head
    /// In any order. The first epoch began with the log and has none.
    public let starts: [Start]

    /// Of a realm that has no log.
    public static let none = EpochHistory(head: Head(epoch: 0, position: 0), starts: [])

    public init(head: Head, starts: [Start]) {
        self.head = head
        self.starts = starts
    }

    public func standing(of cursor: LogCursor) -> Standing {
        if cursor.position == 0 { return .valid }
        if cursor.epoch == head.epoch {
            return cursor.position <= head.position ? .valid : .beyondHead
        }
        // Another branch's epoch: where that branch left this log is not on record here.
        guard cursor.epoch < head.epoch, isOurs(cursor.epoch) else { return .lost(keptTo: 0) }
        let kept = starts.filter { $0.epoch > cursor.epoch }.map(\.after).min() ?? 0
        return cursor.position <= kept ? .valid : .lost(keptTo: kept)
    }

    /// Up to where the log is the one that others were sent, by losses that are known; nil where there is none that they
    /// were not told of.
    /// - Parameter position: where they were told last, or were first sent anything.
    public func loss(since position: Int64) -> Int64? {
        starts.filter { $0.isLoss && $0.after >= position }.map(\.after).min()
    }

    /// The epoch in which the event at a position was appended.
    public func epoch(of position: Int64) -> Int {
        starts.filter { $0.after < position }.map(\.epoch).max() ?? 1
    }

    private func isOurs(_ epoch: Int) -> Bool {
        epoch == 1 || starts.contains { $0.epoch == epoch }
    }
}
