public import Values

/// An answer that was requested and is to come. Called again, as after a failure, it asks anew.
public typealias Later<Value> = @Sendable () async throws(LogFailure) -> Value

/// The log of every realm: ordered, gap-free, append-only.
public protocol EventLog: Sendable {
    /// Appends all of it or nothing.
    func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome

    /// How a command ended that was appended before: duplicate, misused, or nil when it never was.
    func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome?

    /// The events of one stream after a version, oldest first.
    func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded]

    /// The events of one stream, oldest first, as they were at a moment or later. What an append, or another look at
    /// the log, has shown since then need not be asked for. The moment is not before an append of the caller's own to
    /// this stream.
    func stream(
        _ stream: UUID, since moment: ContinuousClock.Instant, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded]

    /// The realm's events from a position on, in order, at most `limit` of them.
    func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded]

    /// The events at some positions; where there is none at a position, it is left out.
    func events(at positions: [Int64], in realm: RealmID) async throws(LogFailure) -> [Recorded]

    /// The same as `events(from:)` without opening what is sealed, and where the log was at that moment. Of personal
    /// fields it tells at most that they are there, that they are erased, or that their key is missing.
    func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage

    /// The same of the events at some positions; where there is none at a position, it is left out.
    func page(at positions: [Int64], in realm: RealmID) async throws(LogFailure) -> LogPage

    /// The last position of the realm: 0 where nothing happened yet.
    func head(of realm: RealmID) async throws(LogFailure) -> Head

    /// The realm's epoch as far as this node knows it without asking; 0 where it doesn't. What was
    /// read in another epoch is void.
    func knownEpoch(of realm: RealmID) -> Int

    /// The latest time of the realm's events, as far as this node knows it without asking: of those
    /// that it read or appended, and of the last one.
    func latestTime(in realm: RealmID) -> Timestamp?
}

extension EventLog {
    /// A log that is never restored knows one epoch.
    public func knownEpoch(of realm: RealmID) -> Int { 1 }

    /// For logs that keep nothing in memory.
    public func stream(
        _ stream: UUID, since moment: ContinuousClock.Instant, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await self.stream(stream, after: 0, in: realm)
    }

    /// For logs that have no better way than to look at one after the other.
    public func events(
        at positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        var found: [Recorded] = []
        for position in Set(positions).sorted() {
            let next = try await events(from: position, limit: 1, in: realm)
            found += next.filter { $0.position == position }
        }
        return found
    }

    /// For logs that have no better way than to look at one after the other.
    public func page(
        at positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        var events: [Recorded] = []
        for position in Set(positions).sorted() {
            let next = try await page(from: position, limit: 1, in: realm).events
            events += next.filter { $0.position == position }
        }
        let epochs = try await page(from: 1, limit: 1, in: realm).epochs
        return LogPage(epochs: epochs, events: events)
    }
}

public struct Head: Sendable, Equatable {
    public let epoch: Int
    public let position: Int64

    public init(epoch: Int, position: Int64) {
        self.epoch = epoch
        self.position = position
    }
}

/// The world broke: nothing is known to be wrong with the request.
public enum LogFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The queue is full: try again soon.
    case busy
    /// The database cannot be reached, is read-only, or failed. No loss is known.
    case unavailable
    /// The database's disk is full: it can be read, and takes no writes.
    case full
    /// The log was restored or failed over while we looked at it: what we knew is void.
    case fenced
    /// Others kept changing what this command reads.
    case contended
    /// A key that something was sealed under is not in the database: it was lost or destroyed.
    case keyMissing
    /// The command id stands for another request.
    case misusedCommand
    /// The database will not take what this command wants to store: a defect of ours.
    case refused
    /// The log holds something that cannot be read: see `urd verify`.
    case damaged
    /// The database has come to have another master key, or a realm's keys were left under another.
    case otherMasterKey

    /// Whether a retry in a second would fail too.
    public var isLasting: Bool { self == .damaged || self == .otherMasterKey }

    /// For the operator.
    public var description: String {
        switch self {
        case .busy: "too much is being asked at once"
        case .unavailable: "the database cannot be reached, or takes no writes"
        case .full: "the database's disk is full"
        case .fenced: "the database was restored or failed over meanwhile"
        case .contended: "others keep changing the same thing"
        case .keyMissing: "a key that something was sealed under is not in the database"
        case .misusedCommand: "the command's id was used for another one"
        case .refused: "the database does not take what was to be stored"
        case .damaged: "the log holds something that cannot be read"
        case .otherMasterKey:
            "the keys are wrapped under another master key than this program has: start it with "
                + "the new one, or wrap those that were left behind under it with "
                + "`urd keys rotate-master --old <file of their master key>`"
        }
    }
}
