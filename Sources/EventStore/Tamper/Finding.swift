public import EventSourcing

/// What is wrong with a log, where it first shows.
public struct Finding: Sendable, Equatable {
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
        case droppedTail
        /// A version of a stream is missing or stands out of its order.
        case versionGap
        /// A column holds what the application never writes.
        case unreadable
        /// The stored leaf was altered, the event was not.
        case leafChanged
        /// The stored mac was altered, the event was not.
        case macChanged
        /// The head of the log is not its last position.
        case headDisagrees
        /// The version that the database notes for a stream is not that of its last event.
        case streamDisagrees
        /// A stored tile is not what was sealed, the events are.
        case tileChanged
        /// A checkpoint in the database has no good signature.
        case checkpointForged
        /// A checkpoint that the file has is gone from the database.
        case checkpointRemoved
        /// The events do not have the root that was signed.
        case rootDiffers
        /// The copy outside the database has no good signature, or can't be read.
        case fileUnreadable
        /// The copy outside the database was signed over another log.
        case fileDiffers
    }

    public let problem: Problem
    /// The first position that is shown to be bad.
    public let position: Int64
    /// Whatever stands before this position is vouched for by a signed root. It is less than
    /// `position` where altered tiles leave open which of several events was altered first.
    public let notBefore: Int64

    public init(_ problem: Problem, at position: Int64, notBefore: Int64? = nil) {
        self.problem = problem
        self.position = position
        self.notBefore = min(notBefore ?? position, position)
    }

    public var isExact: Bool { notBefore == position }
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
