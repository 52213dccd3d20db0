import Synchronization
public import Values

/// A log for trials: it reads another log, and keeps to itself what is appended, so that commands are decided one after the other as
/// if each had been carried out. What they decided can then be appended to the other log as one commit.
///
/// A stream is read there once: all decisions of a trial see the same. Claims that others hold there are unknown; the append of
/// the whole finds them.
public final class TrialLog: EventLog {
    private struct RealmTrial {
        /// Streams as they are in the other log.
        var found: [UUID: [Recorded]] = [:]
        var appended: [UUID: [Recorded]] = [:]
        var held: Set<Claim> = []
        var position = TrialLog.firstPosition
    }

    private struct Trial {
        var realms: [RealmID: RealmTrial] = [:]
        var commits: [Commit] = []
    }

    /// Behind all positions of a real log.
    private static let firstPosition: Int64 = 1 << 50

    private let base: any EventLog
    private let trial = Mutex(Trial())

    public init(over base: any EventLog) {
        self.base = base
    }

    /// Every commit that was appended and changes something, in order.
    public var commits: [Commit] { trial.withLock { $0.commits } }

    /// The events that a stream has in the other log, if a command read it.
    public func found(_ stream: UUID, in realm: RealmID) -> [Recorded] {
        trial.withLock { $0.realms[realm]?.found[stream] ?? [] }
    }

    public func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        trial.withLock { trial in
            let outcome = Self.append(
                commit, to: &trial.realms[commit.realm, default: RealmTrial()])
            if case .won = outcome, !commit.events.isEmpty || !commit.claims.isEmpty {
                trial.commits.append(commit)
            }
            return outcome
        }
    }

    public func outcome(
        of command: UUID, digest: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> AppendOutcome? {
        nil
    }

    public func stream(
        _ stream: UUID, after version: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        let isKnown = trial.withLock { trial in
            let known = trial.realms[realm]
            return known?.found[stream] != nil || known?.appended[stream] != nil
        }
        if !isKnown {
            let found = try await base.stream(stream, after: 0, in: realm)
            trial.withLock { $0.realms[realm, default: RealmTrial()].found[stream] = found }
        }
        return trial.withLock { trial in
            guard let known = trial.realms[realm] else { return [] }
            return (known.found[stream, default: []] + known.appended[stream, default: []])
                .filter { $0.version > version }
        }
    }

    public func events(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await base.events(from: position, limit: limit, in: realm)
    }

    public func page(
        from position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> LogPage {
        try await base.page(from: position, limit: limit, in: realm)
    }

    public func head(of realm: RealmID) async throws(LogFailure) -> Head {
        try await base.head(of: realm)
    }

    public func knownEpoch(of realm: RealmID) -> Int { base.knownEpoch(of: realm) }

    public func latestTime(in realm: RealmID) -> Timestamp? { base.latestTime(in: realm) }

    private static func append(_ commit: Commit, to trial: inout RealmTrial) -> AppendOutcome {
        for (stream, version) in commit.reads {
            let known = trial.appended[stream]?.last ?? trial.found[stream]?.last
            guard version == known?.version ?? 0 else { return .conflict }
        }
        for case .take(let claim, _) in commit.claims where trial.held.contains(claim) {
            return .taken(kind: claim.kind)
        }
        for change in commit.claims {
            switch change {
            case .take(let claim, _): trial.held.insert(claim)
            case .release(let claim, _): trial.held.remove(claim)
            }
        }
        let first = trial.position
        for event in commit.events {
            let version =
                1
                + (trial.appended[event.stream]?.last?.version
                    ?? trial.found[event.stream]?.last?.version ?? 0)
            trial.appended[event.stream, default: []].append(
                Recorded(event, of: commit, at: trial.position, version: version))
            trial.position += 1
        }
        return .won(Positions(epoch: commit.epoch, first: first, count: commit.events.count))
    }
}

extension Commit {
    /// Commits of a trial as one: appended, all of them hold or none.
    ///
    /// Nil where a claim changes hands between them, which one commit cannot say.
    public static func joined(
        _ commits: [Commit], command: UUID, origin: Origin
    ) -> Commit? {
        guard let first = commits.first else { return nil }
        var joined = Commit(
            realm: first.realm, command: command, origin: origin, reads: [:], events: [],
            epoch: first.epoch)
        for commit in commits {
            // Of a stream that the trial moved on, the version at which it was found.
            joined.reads.merge(commit.reads) { min($0, $1) }
            joined.events += commit.events
            joined.claims += commit.claims
            joined.origin.at = max(joined.origin.at, commit.origin.at)
        }
        let claims = joined.claims.map(\.claim)
        return Set(claims).count == claims.count ? joined : nil
    }
}

extension Recorded {
    /// An event of a trial. Its leaf stands for nothing: it is in no tree.
    fileprivate init(_ event: NewEvent, of commit: Commit, at position: Int64, version: Int) {
        guard let leaf = LeafHash([UInt8](repeating: 0, count: LeafHash.length)) else {
            preconditionFailure("A leaf has its length.")
        }
        self.init(
            realm: commit.realm, position: position, stream: event.stream, version: version,
            name: event.name, revision: event.revision, at: commit.origin.at,
            command: commit.command, subject: event.subject, actor: commit.origin.actor,
            client: commit.origin.client, correlation: commit.origin.correlation, leaf: leaf,
            open: event.open, personal: event.personal.isEmpty ? .none : .opened(event.personal))
    }
}
