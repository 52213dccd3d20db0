public import EventSourcing
public import JSON
public import Postgres
public import Values

/// A policy that is to be tried, and on what.
public struct WhatIfQuestion: JobQuestion {
    /// The policy as it was written.
    public var policy: JSON
    /// What the log has in the place of the addresses that the policy names.
    public var sources: [String]
    /// The position up to which events are left out.
    public var after: Int64
    /// The last position that is looked at.
    public var until: Int64
    /// The time of the first event that is looked at, where there is one.
    public var since: Timestamp?
    /// Which sign-ins are asked about; nil for all.
    public var filter: String?

    public init(
        policy: JSON, sources: [String], after: Int64, until: Int64, since: Timestamp?,
        filter: String?
    ) {
        self.policy = policy
        self.sources = sources
        self.after = after
        self.until = until
        self.since = since
        self.filter = filter
    }

    public var json: JSON {
        var members: JSONObject = [
            "policy": policy, "sources": .array(sources.map { .string($0) }),
            "after": .integer(after), "until": .integer(until),
        ]
        members["since"] = since.map { .integer($0.microseconds) }
        members["filter"] = filter.map { .string($0) }
        return .object(members)
    }

    public init?(_ bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes), let policy = json["policy"],
            let sources = json["sources"]?.array, let after = json["after"]?.integer,
            let until = json["until"]?.integer
        else { return nil }
        self.init(
            policy: policy, sources: sources.compactMap(\.string), after: after, until: until,
            since: json["since"]?.integer.map { Timestamp(microseconds: $0) },
            filter: json["filter"]?.string)
    }
}

/// How far a policy is tried.
public struct WhatIfProgress: JobProgress {
    /// The last position that is in the state.
    public var position: Int64 = 0
    /// The engine's state at that position; nil to keep the stored one, empty for none.
    public var state: [UInt8]?
    /// The last position that was looked at.
    public var scanned: Int64 = 0
    /// Nil before the result is complete.
    public var result: [UInt8]?

    public static let columns = "c.position, c.scanned, null::bytea"
    public static let makersColumns = "c.position, c.scanned, c.progress"
    public static let assignments = """
        position = $4, scanned = $5, progress = nullif(coalesce($6, progress), ''::bytea),
            result = $7
        """
    public static let width = 4

    public init() {}

    public init(_ rows: Rows, _ row: Int, from column: Int) {
        position = rows.int64(row, column)
        scanned = rows.int64(row, column + 1)
        state = rows.isNull(row, column + 2) ? nil : rows.bytes(row, column + 2)
    }

    public func add(to parameters: inout Parameters) {
        parameters.add(position)
        parameters.add(scanned)
        parameters.add(bytes: state)
        parameters.add(bytes: result)
    }
}

public enum WhatIfKind: JobKind {
    public typealias Question = WhatIfQuestion
    public typealias Progress = WhatIfProgress

    public static let table = "what_if"
    public static let lock = "urd what if"

    /// Why there is no result.
    public enum Fault: String, CaseIterable, Error, Sendable {
        /// The log went back behind what was asked for.
        case positionLost = "position_lost"
        case logDamaged = "log_damaged"
        /// The program that goes on with it reads policies in another way.
        case otherVersion = "other_version"
    }
}

public typealias WhatIfJob = DurableJob<WhatIfKind>
public typealias WhatIfStore = DurableJobStore<WhatIfKind>

extension DurableJobStore where Kind == WhatIfKind {
    /// The bytes of the result, where it is ready.
    public func result(of id: UUID, in realm: RealmID) async throws(LogFailure) -> [UInt8]? {
        try await asking { connection throws(Failure) in
            let rows = try connection.execute(readingResult, Parameters(in: realm, id))
            return rows.isEmpty || rows.isNull(0, 0) ? nil : rows.bytes(0, 0)
        }
    }
}

private let readingResult = Statement(
    "what_if_result",
    """
    select c.result from urd.what_if c
    where c.realm = $1 and c.id = $2 and c.state = 'ready'
        and c.finished_at > now() - interval '\(WhatIfStore.keptHours) hours'
    """)
