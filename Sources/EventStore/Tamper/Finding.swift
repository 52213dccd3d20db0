public import EventSourcing
public import Laws

/// What is wrong with a log, where it first shows.
public struct Finding: Sendable, Equatable {
    /// The raw value is a stable name, for JSON and scripts.
    public enum Problem: String, Sendable, CaseIterable {
        /// The event is not what was sealed.
        case changed
        /// The leaf fits the event, but the application did not write it.
        case forged
        /// An event is gone.
        case removed
        /// An event stands here that was never sealed here; the sealed ones follow it.
        case inserted
        /// Events stand in another order than they were sealed in.
        case reordered
        /// An event stands here a second time.
        case repeated
        /// The log ends before what was signed, or before what its head says.
        case droppedTail = "dropped_tail"
        /// A version of a stream is missing or stands out of its order.
        case versionGap = "version_gap"
        /// A column holds what the application never writes.
        case unreadable
        /// The stored leaf was altered, the event was not.
        case leafChanged = "leaf_changed"
        /// The stored mac was altered, the event was not.
        case macChanged = "mac_changed"
        /// The head of the log is not its last position.
        case headDisagrees = "head_disagrees"
        /// The version that the database notes for a stream is not that of its last event.
        case streamDisagrees = "stream_disagrees"
        /// A stored tile is not what was sealed, the events are.
        case tileChanged = "tile_changed"
        /// A checkpoint in the database has no good signature.
        case checkpointForged = "checkpoint_forged"
        /// A checkpoint that the file has is gone from the database.
        case checkpointRemoved = "checkpoint_removed"
        /// The events do not have the root that was signed.
        case rootDiffers = "root_differs"
        /// The copy outside the database has no good signature, or can't be read.
        case fileUnreadable = "file_unreadable"
        /// The copy outside the database was signed over another log.
        case fileDiffers = "file_differs"
    }

    public let problem: Problem
    /// The first position that is shown to be bad.
    public let position: Int64
    /// All that stands before this position is vouched for by a signed root. It is less than
    /// `position` where altered tiles leave open which of several events was altered first.
    public let notBefore: Int64

    public init(_ problem: Problem, at position: Int64, notBefore: Int64? = nil) {
        self.problem = problem
        self.position = position
        self.notBefore = min(notBefore ?? position, position)
    }

    public var isExact: Bool { notBefore == position }
}

extension Finding: CustomStringConvertible {
    /// For people: one sentence, and where an earlier position can't be ruled out, another.
    public var description: String {
        guard !isExact else { return "position \(position): \(problem.words)." }
        return "position \(position): \(problem.words). "
            + "No signed root that holds covers position \(notBefore) and those behind it: "
            + "an earlier one of them may have been altered too."
    }
}

extension Finding.Problem {
    public var words: String {
        switch self {
        case .changed: "the event is not what was sealed"
        case .forged: "the event was not written by the application"
        case .removed: "an event is gone"
        case .inserted: "an event was inserted"
        case .reordered: "the events stand in another order than they were sealed in"
        case .repeated: "an event stands here a second time"
        case .droppedTail: "the log ends before what was signed or noted"
        case .versionGap: "a version of the event's stream is missing or out of order"
        case .unreadable: "a column holds what the application never writes"
        case .leafChanged: "the stored leaf was altered, the event was not"
        case .macChanged: "the stored mac was altered, the event was not"
        case .headDisagrees: "the head of the log is not its last position"
        case .streamDisagrees: "the version noted for a stream is not that of its last event"
        case .tileChanged: "a stored tile was altered, the events were not"
        case .checkpointForged: "the checkpoint of this size has no good signature"
        case .checkpointRemoved: "the checkpoint of this size is gone from the database"
        case .rootDiffers: "the events up to here do not have the root that was signed"
        case .fileUnreadable: "the checkpoint file has no good signature, or can't be read"
        case .fileDiffers: "the checkpoint file was signed over another log"
        }
    }
}

/// The outcome of a verification.
public struct Verification: Sendable, Equatable {
    public let realm: RealmID
    /// The first position that was looked at. What stands before was vouched for by a checkpoint.
    public let first: Int64
    public let last: Int64
    /// How far the last signed checkpoint reaches that was found to hold.
    public let sealed: Int64
    /// Signed checkpoints that were found to hold.
    public let checkpoints: Int
    /// Nil: the log is intact.
    public let finding: Finding?
    /// What the laws of the log say of it; nil where they were not asked for.
    public let laws: LawFindings?
    /// What is sealed in it and cannot be read: no sign that the log was changed, but a loss.
    public internal(set) var unreadable = UnreadableEvents()

    public var isIntact: Bool { finding == nil }
}

public struct VerificationProgress: Sendable {
    public let done: Int64
    public let total: Int64
    public let elapsed: Duration

    /// Events a second.
    public var rate: Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(done) / seconds : 0
    }
}
