public import EventSourcing
public import JSON
public import Postgres
public import Values

/// A kind of work that an administrator orders and no request waits for: it is a row, so that any node makes it, and another goes
/// on where one died.
public protocol JobKind: Sendable {
    associatedtype Question: JobQuestion
    associatedtype Progress: JobProgress
    /// Why the result cannot be made.
    associatedtype Fault: RawRepresentable<String> & CaseIterable & Error & Equatable & Sendable

    /// In the schema `urd`; the names of its statements begin so, too.
    static var table: String { get }
    /// Of the lock that lets one after the other in.
    static var lock: String { get }
}

/// The input of a job.
public protocol JobQuestion: Sendable, Equatable {
    var json: JSON { get }

    /// Nil where it was written by another version.
    init?(_ bytes: [UInt8])
}

/// The progress of a job.
public protocol JobProgress: Sendable, Equatable {
    /// What is read of a row `c`.
    static var columns: String { get }
    /// The columns of the progress that its maker reads.
    static var makersColumns: String { get }
    /// What is kept, with parameters from $4 on.
    static var assignments: String { get }
    /// How many parameters that takes.
    static var width: Int { get }

    init()
    init(_ rows: Rows, _ row: Int, from column: Int)

    func add(to parameters: inout Parameters)
}

extension JobProgress {
    public static var makersColumns: String { columns }
}

public enum JobState: String, CaseIterable, Sendable {
    case waiting, running, ready, failed, cancelled
}

/// A job that an administrator requested.
public struct DurableJob<Kind: JobKind>: Sendable, Equatable {
    public typealias State = JobState
    public typealias Fault = Kind.Fault

    public let realm: RealmID
    public let id: UUID
    /// Whom it is made for, as the log names them.
    public let asker: String
    public let question: Kind.Question
    public let epoch: Int
    public let askedAt: Timestamp
    public var state: State
    public var fault: Fault?
    public var progress: Kind.Progress
    public var finishedAt: Timestamp?
    /// Whether the finished job is too old to be handed out.
    public var isExpired: Bool

    public init(
        realm: RealmID, id: UUID, asker: String, question: Kind.Question, epoch: Int,
        askedAt: Timestamp, state: State = .waiting, fault: Fault? = nil,
        progress: Kind.Progress = Kind.Progress(), finishedAt: Timestamp? = nil,
        isExpired: Bool = false
    ) {
        self.realm = realm
        self.id = id
        self.asker = asker
        self.question = question
        self.epoch = epoch
        self.askedAt = askedAt
        self.state = state
        self.fault = fault
        self.progress = progress
        self.finishedAt = finishedAt
        self.isExpired = isExpired
    }
}
