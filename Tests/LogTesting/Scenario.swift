public import EventSourcing
internal import JSON
internal import Synchronization
public import Testing
public import Values

/// Given events, when a command, then events or a rejection.
public struct Scenario: Sendable {
    private var history: [UUID: [Recorded]] = [:]

    fileprivate init() {}

    /// What also happened before.
    public func given(_ events: any Event..., in stream: UUID) -> Scenario {
        var scenario = self
        for event in events { scenario.append(event, in: stream) }
        return scenario
    }

    /// What a command decided happened, too.
    public func given(_ decision: Decision) -> Scenario {
        var scenario = self
        for event in decision.events { scenario.append(event) }
        return scenario
    }

    private mutating func append(_ event: some Event, in stream: UUID) {
        append(NewEvent(event, in: stream))
    }

    private mutating func append(_ new: NewEvent) {
        let stream = new.stream
        let version = history[stream, default: []].count + 1
        history[stream, default: []].append(
            Recorded(
                realm: .system, position: Int64(version), stream: stream, version: version,
                name: new.name, revision: new.revision, at: Timestamp(microseconds: 0),
                command: .zero, subject: new.subject, actor: "system", client: nil,
                correlation: nil, leaf: .standIn(stream, version), open: new.open,
                personal: new.personal.isEmpty ? .none : .opened(new.personal)))
    }

    /// What a command looks at, for tests of what it answers.
    public func facts<C: Command>(of command: C) async throws -> C.Facts {
        try await command.gather(ScenarioReader(history))
    }

    /// Lets a command decide on what happened.
    public func when<C: Command>(
        _ command: C, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Verdict<C> {
        let reader = ScenarioReader(history)
        let facts = try await command.gather(reader)
        do {
            try command.requireRealm(facts)
            let decision = try command.decide(facts)
            for event in decision.events where !reader.streams.contains(event.stream) {
                Issue.record(
                    "The command writes a stream that it did not read.",
                    sourceLocation: sourceLocation)
            }
            return Verdict(command: command, read: reader.streams, result: .success(decision))
        } catch {
            return Verdict(command: command, read: reader.streams, result: .failure(error))
        }
    }
}

/// Nothing happened before.
public func given() -> Scenario { Scenario() }

public func given(_ events: any Event..., in stream: UUID) -> Scenario {
    events.reduce(Scenario()) { $0.given($1, in: stream) }
}

/// How a command decided.
public struct Verdict<C: Command>: Sendable {
    public let command: C
    /// The streams that it looked at.
    public let read: Set<UUID>
    /// The command's own rejection, or that of its realm.
    public let result: Result<Decision, any Error>

    /// Exactly these events, and these changes of claims.
    public func then(
        _ events: any Event..., in stream: UUID, taking: [Claim] = [], releasing: [Claim] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var expected = Decision()
        for event in events { expected.append(event, in: stream) }
        for claim in releasing { expected.release(claim, by: stream) }
        for claim in taking { expected.take(claim, for: stream) }
        then(expected, sourceLocation: sourceLocation)
    }

    /// Nothing: all is as it was asked to be.
    public func thenNothing(sourceLocation: SourceLocation = #_sourceLocation) {
        then(Decision(), sourceLocation: sourceLocation)
    }

    public func then(_ expected: Decision, sourceLocation: SourceLocation = #_sourceLocation) {
        switch result {
        case .success(let decision):
            #expect(decision.events == expected.events, sourceLocation: sourceLocation)
            #expect(
                Set(decision.claims) == Set(expected.claims), sourceLocation: sourceLocation)
        case .failure(let rejection):
            Issue.record("Rejected: \(rejection)", sourceLocation: sourceLocation)
        }
    }

    public func thenRejected(
        _ reason: C.Rejection, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        check(reason, sourceLocation)
    }

    /// Rejected for what its realm is, before the command itself decides.
    public func thenRejected(
        _ reason: RealmRejection, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        check(reason, sourceLocation)
    }

    private func check<Reason: Error & Equatable>(
        _ reason: Reason, _ sourceLocation: SourceLocation
    ) {
        switch result {
        case .success(let decision):
            Issue.record(
                "Not rejected: \(decision.events.map(\.name))", sourceLocation: sourceLocation)
        case .failure(let rejection as Reason):
            #expect(rejection == reason, sourceLocation: sourceLocation)
        case .failure(let rejection):
            Issue.record("Rejected: \(rejection)", sourceLocation: sourceLocation)
        }
    }

    /// The decision takes this claim, and this is its reason when somebody else has it.
    public func thenRejected(
        _ reason: C.Rejection, whenTaken claim: Claim,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .success(let decision) = result,
            decision.claims.contains(where: {
                if case .take(claim, _) = $0 { true } else { false }
            })
        else {
            Issue.record("The claim was not taken.", sourceLocation: sourceLocation)
            return
        }
        #expect(
            command.rejection(takenClaim: claim.kind) == reason, sourceLocation: sourceLocation)
    }
}

private final class ScenarioReader: StreamReader {
    private let history: [UUID: [Recorded]]
    private let seen = Mutex<Set<UUID>>([])

    init(_ history: [UUID: [Recorded]]) {
        self.history = history
    }

    var streams: Set<UUID> { seen.withLock { $0 } }

    func read<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        _ = seen.withLock { $0.insert(stream) }
        var state = State()
        let events = history[stream, default: []]
        for recorded in events {
            guard let event = State.Event(recorded) else { throw .damaged }
            state.apply(event)
        }
        return Versioned(stream: stream, version: events.count, state: state)
    }
}
