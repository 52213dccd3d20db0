import EventSourcing
import JSON
import Testing
import Values

/// Foundation has one too.
typealias UUID = Values.UUID

let testTime = Timestamp(microseconds: 1_795_225_283_123_456)

func newID() -> UUID {
    var random = SystemRandomNumberGenerator()
    return UUID.v7(at: testTime, using: &random)
}

func newRealm() -> RealmID {
    var random = SystemRandomNumberGenerator()
    guard let realm = RealmID("test-" + String(random.next(), radix: 16)) else {
        preconditionFailure("A prefix and hexadecimal digits make a realm's name.")
    }
    return realm
}

/// A commit made of as little as possible: so many events in one stream at a version.
func commit(
    to stream: UUID, at version: Int = 0, events: Int = 1, in realm: RealmID,
    command: UUID = newID(), digest: [UInt8] = [], claims: [ClaimChange] = [],
    open: JSONObject = ["number": 1], personal: JSONObject = [:], subject: UUID? = nil,
    name: String = "thing.done"
) -> Commit {
    Commit(
        realm: realm, command: command, digest: digest,
        origin: Origin(actor: "system", at: testTime), reads: [stream: version],
        events: (0..<events).map { _ in
            NewEvent(
                stream: stream, name: name, revision: 1, subject: subject, open: open,
                personal: personal)
        }, claims: claims)
}

/// Expects success and gives its positions.
@discardableResult
func expectWon(
    _ outcome: AppendOutcome?, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Positions {
    guard case .won(let positions) = outcome else {
        Issue.record(
            "Expected to win, got \(String(describing: outcome))", sourceLocation: sourceLocation)
        throw CancellationError()
    }
    return positions
}

/// What an append came to, failures included.
func ending(
    _ log: some EventLog, _ commit: Commit
) async -> Result<AppendOutcome, LogFailure> {
    do throws(LogFailure) {
        return .success(try await log.append(commit))
    } catch {
        return .failure(error)
    }
}

/// What many appends at once came to, in their order.
func endings(
    _ log: some EventLog, _ commits: [Commit]
) async -> [Result<AppendOutcome, LogFailure>] {
    await withTaskGroup(of: (Int, Result<AppendOutcome, LogFailure>).self) { group in
        for (index, commit) in commits.enumerated() {
            group.addTask { (index, await ending(log, commit)) }
        }
        var all = [Result<AppendOutcome, LogFailure>?](repeating: nil, count: commits.count)
        for await (index, ending) in group { all[index] = ending }
        return all.compactMap { $0 }
    }
}
