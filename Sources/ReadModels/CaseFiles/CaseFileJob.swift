public import EventSourcing
public import Identity
internal import JSON
public import Values

/// What a case file is to tell.
public struct CaseQuestion: Sendable, Equatable {
    public var about: IssuedCaseFile.About
    /// An id, or the pseudonym of a network, or a kind of device.
    public var id: String
    /// The last position that is looked at.
    public var until: Int64
    /// Whether personal fields are opened.
    public var opens: Bool
    /// Whether it has the leaves of the whole log.
    public var isComplete: Bool
    public var reason: String

    public init(
        about: IssuedCaseFile.About, id: String, until: Int64, opens: Bool, isComplete: Bool,
        reason: String
    ) {
        self.about = about
        self.id = id
        self.until = until
        self.opens = opens
        self.isComplete = isComplete
        self.reason = reason
    }

    /// What the index is asked for; nil where the id is none.
    public var references: EventReferences? {
        switch about {
        case .source: return EventReferences(source: id)
        case .device: return EventReferences(device: id)
        case .account, .session, .browser, .client:
            guard let id = UUID(id) else { return nil }
            return switch about {
            case .session: EventReferences(session: id)
            case .browser: EventReferences(browser: id)
            case .client: EventReferences(client: id)
            case .account, .source, .device: EventReferences(account: id)
            }
        }
    }

    var json: JSON {
        [
            "about": .string(about.rawValue), "id": .string(id), "until": .integer(until),
            "open": .bool(opens), "complete": .bool(isComplete), "reason": .string(reason),
        ]
    }

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes),
            let about = json["about"]?.string.flatMap(IssuedCaseFile.About.init),
            let id = json["id"]?.string,
            let until = json["until"]?.integer, let opens = json["open"]?.bool,
            let isComplete = json["complete"]?.bool, let reason = json["reason"]?.string
        else { return nil }
        self.init(
            about: about, id: id, until: until, opens: opens, isComplete: isComplete, reason: reason
        )
    }
}

/// How far a case file is made.
public struct CaseProgress: Sendable, Equatable {
    /// What the lines are proven against, as a signed note; empty before it is known.
    public var checkpoint: [UInt8] = []
    /// Of the last record.
    public var position: Int64 = 0
    /// The hash of all lines.
    public var chain = [UInt8](repeating: 0, count: 32)
    public var lines: Int64 = 0
    public var records: Int64 = 0
    /// Records whose personal fields are opened.
    public var opened: Int64 = 0

    public init() {}
}

/// A case file that somebody asked for.
public struct CaseFileJob: Sendable, Equatable {
    public enum State: String, CaseIterable, Sendable {
        case waiting, running, ready, failed, cancelled
    }

    /// Why none can be made.
    public enum Fault: String, CaseIterable, Error, Sendable {
        /// Nothing is about it.
        case empty
        case tooManyRecords = "too_many_records"
        /// The log is not sealed as far as was asked for.
        case notSealed = "not_sealed"
        /// The log went back behind what was asked for.
        case positionLost = "position_lost"
        case logDamaged = "log_damaged"
        /// What was read twice was not the same: personal data was erased meanwhile.
        case changed
    }

    public let realm: RealmID
    public let id: UUID
    /// Whom it is issued to, as the log names them.
    public let asker: String
    public let question: CaseQuestion
    public let epoch: Int
    public let askedAt: Timestamp
    public var state: State
    public var fault: Fault?
    public var progress: CaseProgress
    public var finishedAt: Timestamp?
    /// It was finished so long ago that it is handed out no more.
    public var isExpired: Bool

    public init(
        realm: RealmID, id: UUID, asker: String, question: CaseQuestion, epoch: Int,
        askedAt: Timestamp, state: State = .waiting, fault: Fault? = nil,
        progress: CaseProgress = CaseProgress(), finishedAt: Timestamp? = nil,
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
