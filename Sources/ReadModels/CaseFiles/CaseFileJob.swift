public import Identity
public import JSON
public import Postgres
internal import Values

/// What a case file is to tell.
public struct CaseQuestion: JobQuestion {
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

    public var json: JSON {
        [
            "about": .string(about.rawValue), "id": .string(id), "until": .integer(until),
            "open": .bool(opens), "complete": .bool(isComplete), "reason": .string(reason),
        ]
    }

    public init?(_ bytes: [UInt8]) {
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
public struct CaseProgress: JobProgress {
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

    public static let columns = "c.checkpoint, c.position, c.chain, c.lines, c.records, c.opened"
    public static let assignments = """
        checkpoint = nullif($4, ''::bytea), position = $5, chain = $6, lines = $7, records = $8,
            opened = $9
        """
    public static let width = 6

    public init() {}

    public init(_ rows: Rows, _ row: Int, from column: Int) {
        checkpoint = rows.isNull(row, column) ? [] : rows.bytes(row, column)
        position = rows.int64(row, column + 1)
        if !rows.isNull(row, column + 2) { chain = rows.bytes(row, column + 2) }
        lines = rows.int64(row, column + 3)
        records = rows.int64(row, column + 4)
        opened = rows.int64(row, column + 5)
    }

    public func add(to parameters: inout Parameters) {
        parameters.add(bytes: checkpoint)
        parameters.add(position)
        parameters.add(bytes: chain)
        parameters.add(lines)
        parameters.add(records)
        parameters.add(opened)
    }
}

/// Case files: what they tell stands in the log alone.
public enum CaseFileKind: JobKind {
    public typealias Question = CaseQuestion
    public typealias Progress = CaseProgress

    public static let table = "case_file"
    public static let lock = "urd case file"

    /// Why the case file cannot be made.
    public enum Fault: String, CaseIterable, Error, Sendable {
        /// No event is about the subject.
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
}

/// A case file that an administrator requested.
public typealias CaseFileJob = DurableJob<CaseFileKind>
public typealias CaseFileStore = DurableJobStore<CaseFileKind>
