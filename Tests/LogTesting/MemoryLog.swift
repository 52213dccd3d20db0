public import EventSourcing
internal import JSON
internal import Synchronization
public import Values

/// The log in memory: the shortest text of what a log promises, and what others are compared with.
public final class MemoryLog: EventLog {
    private struct Outcome {
        let digest: [UInt8]
        let positions: Positions
    }

    private struct RealmLog {
        var events: [Recorded] = []
        var versions: [UUID: Int] = [:]
        var claims: [Claim: UUID] = [:]
        var commands: [UUID: Outcome] = [:]
        var erased: Set<UUID> = []
        var latest: Timestamp?
        var epoch = 1
        var starts: [EpochHistory.Start] = []
    }

    private let realms = Mutex<[RealmID: RealmLog]>([:])

    public init() {}

    public func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        realms.withLock { realms in
            Self.append(commit, to: &realms[commit.realm, default: RealmLog()])
        }
    }

    public func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        realms.withLock { Self.outcome(of: command, digest: digest, in: $0[realm]) }
    }

    public func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        realms.withLock { realms in
            Self.opened(realms[realm]) { $0.stream == stream && $0.version > version }
        }
    }

    public func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        realms.withLock { realms in
            Array(Self.opened(realms[realm]) { $0.position >= position }.prefix(limit))
        }
    }

    public func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        realms.withLock { realms in
            guard let log = realms[realm] else { return LogPage(epochs: .none, events: []) }
            let events = Self.opened(log) { $0.position >= position }.prefix(limit)
            return LogPage(
                epochs: EpochHistory(
                    head: Head(epoch: log.epoch, position: Int64(log.events.count)),
                    starts: log.starts),
                events: events.map(\.unopened))
        }
    }

    public func head(of realm: RealmID) async throws(LogFailure) -> Head {
        realms.withLock {
            guard let log = $0[realm] else { return Head(epoch: 0, position: 0) }
            return Head(epoch: log.epoch, position: Int64(log.events.count))
        }
    }

    public func latestTime(in realm: RealmID) -> Timestamp? {
        realms.withLock { $0[realm]?.latest }
    }

    /// A standby takes over that has the log up to a position alone. What was claimed stays so.
    public func failOver(_ realm: RealmID, keeping position: Int64) {
        realms.withLock { realms in
            guard var log = realms[realm] else { return }
            log.events.removeAll { $0.position > position }
            log.versions = [:]
            for event in log.events { log.versions[event.stream] = event.version }
            log.epoch += 1
            log.starts.append(EpochHistory.Start(epoch: log.epoch, after: position))
            realms[realm] = log
        }
    }

    /// What was personal about a subject can be read no more.
    public func erase(_ subject: UUID, in realm: RealmID) {
        realms.withLock { _ = $0[realm]?.erased.insert(subject) }
    }

    private static func append(_ commit: Commit, to log: inout RealmLog) -> AppendOutcome {
        precondition(
            commit.events.allSatisfy { commit.reads[$0.stream] != nil },
            "A stream that is written must have been read.")
        if let earlier = outcome(of: commit.command, digest: commit.digest, in: log) {
            return earlier
        }
        guard commit.reads.allSatisfy({ log.versions[$0.key, default: 0] == $0.value }) else {
            return .conflict
        }
        let claims = commit.claims.filter { change in
            // What one command both takes and releases stays as it is.
            commit.claims.count(where: { $0.claim == change.claim }) == 1
        }
        for case .take(let claim, _) in claims where log.claims[claim] != nil {
            return .taken(kind: claim.kind)
        }
        for change in claims {
            switch change {
            case .take(let claim, let stream): log.claims[claim] = stream
            case .release(let claim, let stream):
                if log.claims[claim] == stream { log.claims[claim] = nil }
            }
        }
        let positions = Positions(
            epoch: log.epoch, first: Int64(log.events.count) + 1, count: commit.events.count)
        for event in commit.events {
            log.latest = max(commit.origin.at, log.latest ?? commit.origin.at)
            log.versions[event.stream, default: 0] += 1
            log.events.append(
                recorded(
                    event, of: commit, position: Int64(log.events.count) + 1,
                    version: log.versions[event.stream, default: 0]))
        }
        log.commands[commit.command] = Outcome(digest: commit.digest, positions: positions)
        return .won(positions)
    }

    private static func outcome(
        of command: UUID, digest: [UInt8], in log: RealmLog?
    ) -> AppendOutcome? {
        guard let earlier = log?.commands[command] else { return nil }
        return earlier.digest == digest ? .duplicate(earlier.positions) : .misused
    }

    private static func recorded(
        _ event: NewEvent, of commit: Commit, position: Int64, version: Int
    ) -> Recorded {
        var origin: JSONObject = [:]
        origin["$address"] = commit.origin.address.map { .string($0) }
        origin["$userAgent"] = commit.origin.userAgent.map { .string($0) }
        let personal = event.personal.merging(
            event.origin(origin, besideSomebodys: commit.isSomebodys)
        ) { own, _ in own }
        return Recorded(
            realm: commit.realm, position: position, stream: event.stream, version: version,
            name: event.name, revision: event.revision, at: commit.origin.at,
            command: commit.command, subject: event.subject, actor: commit.origin.actor,
            client: commit.origin.client, correlation: commit.origin.correlation,
            leaf: .standIn(event.stream, version, in: commit.realm, by: commit.command),
            open: event.open, personal: personal.isEmpty ? .none : .opened(personal))
    }

    private static func opened(
        _ log: RealmLog?, where isWanted: (Recorded) -> Bool
    ) -> [Recorded] {
        guard let log else { return [] }
        return log.events.filter(isWanted).map { event in
            guard let subject = event.subject, log.erased.contains(subject),
                event.personal != .none
            else { return event }
            return event.erased
        }
    }
}

extension Recorded {
    /// The same event after its subject was erased.
    var erased: Recorded { with(.erased) }

    /// The same event as it is read without opening anything.
    var unopened: Recorded {
        if case .opened = personal { with(.sealed) } else { self }
    }

    func with(_ leaf: LeafHash) -> Recorded { with(personal, leaf) }

    private func with(_ personal: Personal, _ leaf: LeafHash? = nil) -> Recorded {
        Recorded(
            realm: realm, position: position, stream: stream, version: version, name: name,
            revision: revision, at: at, command: command, subject: subject, actor: actor,
            client: client, correlation: correlation, leaf: leaf ?? self.leaf, open: open,
            personal: personal)
    }
}
