public import EventSourcing
internal import JSON
internal import Testing
internal import Values

/// What every log promises. A suite runs all of them:
///
///     @Test(arguments: LogPromise.allCases) func `A log keeps`(promise: LogPromise) async throws {
///         try await LogConformance(log).check(promise)
///     }
public enum LogPromise: String, CaseIterable, Sendable {
    case versions = "versions count from 1 in each stream"
    case densePositions = "positions are 1, 2, 3 in the order of commits"
    case pages = "pages of any size give the same events"
    case streamTails = "a stream can be read from any version on"
    case fidelity = "an event comes back as it went in"
    case unknown = "what never happened is empty and no fault"
    case realmsApart = "realms know nothing of each other"

    case conflicts = "a wrong version is a conflict and appends nothing"
    case severalStreams = "one commit writes several streams or none"
    case asserts = "a stream that was only read is asserted and not changed"
    case emptyCommit = "a commit without events asserts, takes no position and is remembered"

    case claimTaken = "a claim is held by one and refused to all others"
    case claimReleased = "a released claim can be taken again"
    case foreignRelease = "a claim is not released by who doesn't hold it"
    case claimKinds = "claims of two kinds are two claims"
    case claimAlone = "a claim is taken without an event as well"
    case lostClaims = "a command that loses leaves no claim behind"
    case conflictBeforeClaim = "a conflict is told before a taken claim"

    case duplicates = "a repeated command gets its first outcome and appends nothing"
    case misuse = "a command id with another digest is misuse"
    case losersAreForgotten = "a command that lost can be sent again"
    case commandsByRealm = "a command id counts in its realm only"

    case oneWinner = "of many writers at one version one wins"
    case oneClaimant = "of many who claim one thing one gets it"
    case onceAmongMany = "a command sent many times at once happens once"
    case concurrentWriters = "concurrent writers lose nothing and leave no gap"
    case concurrentReader = "a reader during writes never sees a gap"
}

public struct LogConformance<Log: EventLog>: Sendable {
    let log: Log
    let realm = ConformanceRealm.fresh()

    public init(_ log: Log) {
        self.log = log
    }

    public func check(_ promise: LogPromise) async throws {
        switch promise {
        case .versions: try await checkVersions()
        case .densePositions: try await checkDensePositions()
        case .pages: try await checkPages()
        case .streamTails: try await checkStreamTails()
        case .fidelity: try await checkFidelity()
        case .unknown: try await checkUnknown()
        case .realmsApart: try await checkRealmsApart()
        case .conflicts: try await checkConflicts()
        case .severalStreams: try await checkSeveralStreams()
        case .asserts: try await checkAsserts()
        case .emptyCommit: try await checkEmptyCommit()
        case .claimTaken: try await checkClaimTaken()
        case .claimReleased: try await checkClaimReleased()
        case .foreignRelease: try await checkForeignRelease()
        case .claimKinds: try await checkClaimKinds()
        case .claimAlone: try await checkClaimAlone()
        case .lostClaims: try await checkLostClaims()
        case .conflictBeforeClaim: try await checkConflictBeforeClaim()
        case .duplicates: try await checkDuplicates()
        case .misuse: try await checkMisuse()
        case .losersAreForgotten: try await checkLosersAreForgotten()
        case .commandsByRealm: try await checkCommandsByRealm()
        case .oneWinner: try await checkOneWinner()
        case .oneClaimant: try await checkOneClaimant()
        case .onceAmongMany: try await checkOnceAmongMany()
        case .concurrentWriters: try await checkConcurrentWriters()
        case .concurrentReader: try await checkConcurrentReader()
        }
    }

    /// A commit that writes so many events to each of the streams, in turn.
    func commit(
        _ writes: [(stream: UUID, version: Int, events: Int)], reads: [UUID: Int] = [:],
        claims: [ClaimChange] = [], command: UUID = newID(), digest: [UInt8] = [],
        in realm: RealmID? = nil
    ) -> Commit {
        var commit = Commit(
            realm: realm ?? self.realm, command: command, digest: digest,
            origin: Origin(actor: "system", at: checkTime), reads: reads, events: [],
            claims: claims)
        for write in writes {
            commit.reads[write.stream] = write.version
            for number in 0..<write.events {
                commit.events.append(
                    NewEvent(
                        stream: write.stream, name: "thing.done", revision: 1,
                        open: ["number": .integer(Int64(write.version + number + 1))]))
            }
        }
        return commit
    }

    /// One event in one stream.
    func commit(
        _ stream: UUID, at version: Int, claims: [ClaimChange] = [], command: UUID = newID(),
        digest: [UInt8] = [], in realm: RealmID? = nil
    ) -> Commit {
        commit(
            [(stream, version, 1)], claims: claims, command: command, digest: digest, in: realm)
    }

    /// Expects success at these positions.
    func expectWon(
        _ outcome: AppendOutcome, first: Int64? = nil, count: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .won(let positions) = outcome else {
            Issue.record("Expected to win, got \(outcome)", sourceLocation: sourceLocation)
            return
        }
        if let first { #expect(positions.first == first, sourceLocation: sourceLocation) }
        if let count { #expect(positions.count == count, sourceLocation: sourceLocation) }
    }

    func all(in realm: RealmID? = nil) async throws -> [Recorded] {
        try await log.events(from: 1, limit: 100_000, in: realm ?? self.realm)
    }
}

let checkTime = Timestamp(microseconds: 1_795_225_283_123_456)

func newID() -> UUID {
    var random = SystemRandomNumberGenerator()
    return UUID.v7(at: checkTime, using: &random)
}
