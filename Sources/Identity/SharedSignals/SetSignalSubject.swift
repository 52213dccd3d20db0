public import EventSourcing
public import Values

/// Adds a subject to those that a stream has signals about, or removes it from them.
public struct SetSignalSubject: Command {
    public var stream: UUID
    /// Only if it is this client's stream.
    public var client: UUID
    public var subject: NamedSubject
    public var isIncluded: Bool

    public init(stream: UUID, client: UUID, subject: NamedSubject, isIncluded: Bool) {
        self.stream = stream
        self.client = client
        self.subject = subject
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
        guard state.includes(subject) != isIncluded else { return Decision() }
        let event = isIncluded ? SignalStreamEvent.subjectAdded(subject) : .subjectRemoved(subject)
        var after = state
        after.apply(event)
        guard after.named.count <= SignalStream.mostNamed else {
            throw .tooMany(limit: SignalStream.mostNamed)
        }
        return Decision(event, in: stream)
    }
}
