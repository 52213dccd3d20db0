public import Values

/// Runs commands: gather, decide, append; retries on a conflict.
public struct Dispatcher<Log: EventLog>: Sendable {
    public let log: Log
    private let cache: StateCache
    private let turnstile = StreamQueue()

    public init(log: Log, cachedStreams: Int = 10_000) {
        self.log = log
        self.cache = StateCache(capacity: cachedStreams)
    }

    /// A node may decide on a stale cache and lose; it then knows better. More losses than this
    /// mean that others keep winning, and the caller should hear of it.
    private static var attempts: Int { 4 }

    public func dispatch<C: Command>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8] = [], origin: Origin
    ) async throws -> Dispatched {
        let attempt = Attempt(
            command: command, realm: realm, id: id, digest: digest, origin: origin
        ) { command, facts throws(C.Rejection) in
            SettledDecision(try command.decide(facts), ())
        }
        return try await dispatch(attempt).dispatched
    }

    /// The same for a command with an answer. There is none for a repeat of a command id: what was
    /// answered then is not kept.
    public func ask<C: AnsweringCommand>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8] = [], origin: Origin
    ) async throws -> (dispatched: Dispatched, outcome: C.Outcome?) {
        let attempt = Attempt(
            command: command, realm: realm, id: id, digest: digest, origin: origin
        ) { command, facts throws(C.Rejection) in
            try command.settle(facts)
        }
        return try await dispatch(attempt)
    }

    private typealias DispatchResult<Outcome> = (dispatched: Dispatched, outcome: Outcome?)

    private func dispatch<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>
    ) async throws -> DispatchResult<Outcome> {
        var line: StreamQueue.StreamSet
        switch try await run(attempt, isFirst: true) {
        case .done(let dispatched, let outcome): return (dispatched, outcome)
        case .movedOn(let lost): line = lost
        }
        var left = Self.attempts - 1
        while left > 0 {
            let done = try await turnstile.pass(line, in: attempt.realm) {
                try await again(attempt, in: &line, &left)
            }
            if let done { return done }
        }
        throw LogFailure.contended
    }

    private struct Attempt<C: Command, Outcome: Sendable>: Sendable {
        let command: C
        let realm: RealmID
        let id: UUID
        let digest: [UInt8]
        let origin: Origin
        let settle: @Sendable (C, C.Facts) throws(C.Rejection) -> SettledDecision<Outcome>
    }

    private enum Ending<Outcome> {
        case done(Dispatched, Outcome?)
        /// What the decision relied on has moved on, and is to be read again behind this line.
        case movedOn(StreamQueue.StreamSet)
    }

    /// Tries from within the line, and keeps the place there until something else than what the line is
    /// for turns out to be contended too: then nil, and the line has grown.
    private func again<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>, in line: inout StreamQueue.StreamSet, _ left: inout Int
    ) async throws -> DispatchResult<Outcome>? {
        while left > 0 {
            left -= 1
            switch try await run(attempt) {
            case .done(let dispatched, let outcome): return (dispatched, outcome)
            case .movedOn(let lost):
                if line.covers(lost) { continue }
                line.add(lost)
                return nil
            }
        }
        return nil
    }

    private func run<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>, isFirst: Bool = false
    ) async throws -> Ending<Outcome> {
        do {
            return try await once(attempt, isFirst: isFirst)
        } catch LogFailure.fenced where attempt.command.epoch == nil {
            // This node knew a tail of the log that is gone: all that it folded is void.
            cache.clear()
            return .movedOn(StreamQueue.StreamSet())
        }
    }

    private func once<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>, isFirst: Bool
    ) async throws -> Ending<Outcome> {
        let realm = attempt.realm
        // First of all: every later read is of this epoch or a later one.
        var epoch = log.knownEpoch(of: realm)
        if epoch == 0 { epoch = try await log.head(of: realm).epoch }
        guard epoch == attempt.command.epoch ?? epoch else { throw LogFailure.fenced }
        let (command, facts, reader, time) = try await gather(
            attempt, epoch: epoch, trustsNames: isFirst)
        let settled: SettledDecision<Outcome>
        do {
            try command.requireRealm(facts)
            settled = try attempt.settle(command, facts)
        } catch {
            // A repeat of a command that succeeded is refused by its own effect, often.
            if let first = try await repeated(attempt, epoch: epoch) {
                return .done(first, nil)
            }
            guard try await reader.stillHolds() else { return .movedOn(StreamQueue.StreamSet()) }
            throw error
        }
        let foreign = reader.ofAnotherKind
        guard foreign.isEmpty || foreign.isDisjoint(with: settled.decision.events.map(\.stream))
        else { throw LogFailure.damaged }
        var origin = attempt.origin
        origin.at = time
        let commit = Commit(
            realm: realm, command: attempt.id, digest: attempt.digest, origin: origin,
            reads: reader.reads, events: settled.decision.events,
            claims: settled.decision.claims, epoch: epoch)
        if isFirst, !turnstile.isIdle {
            let taken = turnstile.taken(Self.line(of: commit, for: reader.reads.keys), in: realm)
            if taken != StreamQueue.StreamSet() { return .movedOn(taken) }
        }
        switch try await append(commit) {
        case .won(let positions):
            cache.move(
                by: commit.events, at: time, from: reader.reads, in: realm, epoch: epoch)
            return .done(Dispatched(positions: positions, isRepeat: false), settled.outcome)
        case .duplicate(let positions):
            return .done(Dispatched(positions: positions, isRepeat: true), nil)
        case .misused:
            throw LogFailure.misusedCommand
        case .conflict:
            let moved = try await reader.moved()
            cache.forget(moved, in: realm)
            return .movedOn(Self.line(of: commit, for: moved))
        case .taken(let kind):
            throw command.rejection(takenClaim: kind)
        }
    }

    private typealias Gathered<C: Command> = (
        command: C, facts: C.Facts, reader: AssertingReader<Log>, time: Timestamp
    )

    /// What the decision looks at, and when it is made: by the clock that the command came with, but no
    /// earlier than what is on record in the realm, as far as this node knows, and in the streams that
    /// are read. A clock that is behind the log would take for good what the log knows to be over.
    private func gather<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>, epoch: Int, trustsNames: Bool
    ) async throws(LogFailure) -> Gathered<C> {
        let realm = attempt.realm
        var time = attempt.origin.at
        if let latest = log.latestTime(in: realm), time < latest { time = latest }
        while true {
            let reader = AssertingReader(
                log: log, cache: cache, realm: realm, epoch: epoch, trustsNames: trustsNames)
            let command = attempt.command.notBefore(time)
            let facts = try await command.gather(reader)
            guard let latest = reader.latest, time < latest else {
                return (command, facts, reader, time)
            }
            // What was read is of later than was known: seen with that time it may be over.
            time = latest
        }
    }

    /// What a commit has to do with streams: it writes them, or its decision relies on them.
    private static func line(
        of commit: Commit, for streams: some Collection<UUID>
    ) -> StreamQueue.StreamSet {
        let written = Set(commit.events.map(\.stream))
        return StreamQueue.StreamSet(
            writes: Set(streams.filter(written.contains)),
            reads: Set(streams.filter { !written.contains($0) }))
    }

    /// Appends, unless the request was given up for which it is.
    private func append(_ commit: Commit) async throws(LogFailure) -> AppendOutcome {
        guard let scope = RequestScope.current else { return try await log.append(commit) }
        guard scope.begin() else { throw .unavailable }
        let outcome: AppendOutcome
        do throws(LogFailure) {
            outcome = try await log.append(commit)
        } catch {
            scope.end(appended: false)
            throw error
        }
        switch outcome {
        case .won: scope.end(appended: !commit.events.isEmpty || !commit.claims.isEmpty)
        case .duplicate: scope.end(appended: true)
        case .misused, .conflict, .taken: scope.end(appended: false)
        }
        return outcome
    }

    /// The state of a stream as it is now, or as it was at a version.
    public func state<State: StreamState>(
        _ type: State.Type, _ stream: UUID, in realm: RealmID, upTo version: Int = .max
    ) async throws(LogFailure) -> Versioned<State> {
        var state = State()
        var reached = 0
        for recorded in try await log.stream(stream, after: 0, in: realm)
        where recorded.version <= version {
            guard let event = State.Event(recorded) else { throw .damaged }
            state.apply(event)
            reached = recorded.version
        }
        return Versioned(stream: stream, version: reached, state: state)
    }

    /// The first outcome is told once a commit behind it got through, as that of any command: a server that was started
    /// again shows commits that no caller was told of, because they waited for a standby that may still lack them.
    private func repeated<C: Command, Outcome: Sendable>(
        _ attempt: Attempt<C, Outcome>, epoch: Int
    ) async throws(LogFailure) -> Dispatched? {
        switch try await log.outcome(of: attempt.id, digest: attempt.digest, in: attempt.realm) {
        case .duplicate(let positions):
            let behind = UUID(high: ~attempt.id.high, low: ~attempt.id.low)
            _ = try await append(
                Commit(
                    realm: attempt.realm, command: behind, origin: attempt.origin, reads: [:],
                    events: [], epoch: epoch))
            return Dispatched(positions: positions, isRepeat: true)
        case .misused: throw .misusedCommand
        case .won, .conflict, .taken, nil: return nil
        }
    }
}

/// Where a command's events stand.
public struct Dispatched: Sendable, Equatable {
    public let positions: Positions
    /// The command had been carried out before; nothing was done again.
    public let isRepeat: Bool
}
