public import EventSourcing
public import Values

/// Removes a subject from those that a stream has signals about.
public struct RemoveSignalSubject: Command {
    public var stream: UUID
    public var client: UUID
    public var subject: NamedSubject

    public init(stream: UUID, client: UUID, subject: NamedSubject) {
        self.stream = stream
        self.client = client
        self.subject = subject
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
        guard state.includes(subject) else { return Decision() }
        var after = state
        after.apply(.subjectRemoved(subject))
        guard after.named.count <= SignalStream.mostNamed else {
            throw .tooMany(limit: SignalStream.mostNamed)
        }
        return Decision(SignalStreamEvent.subjectRemoved(subject), in: stream)
    }
}
