public import EventSourcing
public import Values

/// A whole realm as of a moment, built for an administrator: its read models, in a schema of their own, for an hour.
public struct AsOfBuild: Sendable, Equatable {
    public enum State: String, CaseIterable, Sendable {
        case waiting, running, ready, failed, cancelled, expired
    }

    /// Why the build failed.
    public enum Fault: String, CaseIterable, Sendable {
        /// An event is missing.
        case logDamaged = "log_damaged"
        /// An event cannot be applied, or the read models were replaced by others meanwhile.
        case notApplicable = "not_applicable"
    }

    /// How many rows of what there are.
    public struct Count: Sendable, Equatable {
        public let projection: String
        public let rows: Int64

        public init(projection: String, rows: Int64) {
            self.projection = projection
            self.rows = rows
        }
    }

    public let realm: RealmID
    public let id: UUID
    /// Who asked, as the log names them, and for which moment, as it was written.
    public let asker: String
    public let moment: String
    public let epoch: Int
    /// The last position that is applied; 0 where nothing had happened yet.
    public let position: Int64
    /// When the event at the position happened.
    public let at: Timestamp?
    public let askedAt: Timestamp
    public var state: State
    public var fault: Fault?
    /// The first position of which the event is missing, where that is the fault.
    public var hole: Int64?
    public var finishedAt: Timestamp?
    /// How far it is, from 0 to the position.
    public var reached: Int64
    /// By read model, once it is ready.
    public var counts: [Count]

    public init(
        realm: RealmID, id: UUID, asker: String, moment: String, epoch: Int, position: Int64,
        at: Timestamp?, askedAt: Timestamp, state: State = .waiting, fault: Fault? = nil,
        finishedAt: Timestamp? = nil, reached: Int64 = 0, counts: [Count] = []
    ) {
        self.realm = realm
        self.id = id
        self.asker = asker
        self.moment = moment
        self.epoch = epoch
        self.position = position
        self.at = at
        self.askedAt = askedAt
        self.state = state
        self.fault = fault
        self.finishedAt = finishedAt
        self.reached = reached
        self.counts = counts
    }

    /// The schema in which analysts find its views.
    public var schema: String {
        "analyst_at_" + id.description.split(separator: "-").joined()
    }

    /// The time until which the build is kept.
    public var expiresAt: Timestamp? {
        state == .ready ? finishedAt?.adding(seconds: AsOfBuildStore.keptSeconds) : nil
    }
}
