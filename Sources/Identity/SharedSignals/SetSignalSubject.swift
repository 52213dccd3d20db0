public import EventSourcing
public import Values

/// Adds a subject to those that a stream has signals about, or removes it from them.
public struct SetSignalSubject: Command {
    public var stream: UUID
    /// Only if it is this client's stream.
    public var client: UUID
    public var subject: NamedSubject
    /// By which the stream treats the same account as well.
    public var otherNames: Set<NamedSubject>
    public var isIncluded: Bool

    public init(
        stream: UUID, client: UUID, subject: NamedSubject, otherNames: Set<NamedSubject> = [],
        isIncluded: Bool
    ) {
        self.stream = stream
        self.client = client
        self.subject = subject
        self.otherNames = otherNames
        self.isIncluded = isIncluded
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The stream treats as many subjects by name as it may.
        case tooMany(limit: Int)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SignalStream> {
        try await .read(stream, from: streams)
    }

    public func decide(_ facts: InRealm<SignalStream>) throws(Rejection) -> Decision {
        let state = facts.thing.state
        guard state.aliveTerms?.client == client else { throw .notFound }
        let names = otherNames.union([subject])
        guard state.includes(names) != isIncluded else { return Decision() }
        // One name is enough to treat an account otherwise than the default says; none may be left to treat it so again.
        let known = state.named.intersection(names)
        let changed = known.isEmpty ? [subject] : known.sorted { $0.key < $1.key }
        var (after, decision) = (state, Decision())
        for name in changed {
            let event = isIncluded ? SignalStreamEvent.subjectAdded(name) : .subjectRemoved(name)
            after.apply(event)
            decision.append(event, in: stream)
        }
        guard after.named.count <= SignalStream.mostNamed else {
            throw .tooMany(limit: SignalStream.mostNamed)
        }
        return decision
    }
}
