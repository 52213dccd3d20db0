public import EventSourcing
public import Values

/// Takes a realm's signing keys of one algorithm a step further: the key that everybody knows already
/// begins to sign, the one that signed so far retires, and a new one is made known. A realm's first
/// key signs at once.
public struct RotateSigningKey: TimedCommand {
    public var next: NewSigningKey
    public var overlap: Int64
    public var now: Timestamp

    public init(next: NewSigningKey, overlap: Int64 = SigningKeys.overlap, now: Timestamp) {
        self.next = next
        self.overlap = overlap
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SigningKeys> {
        try await .read(SigningKeys.stream, from: streams)
    }

    public func decide(_ facts: InRealm<SigningKeys>) throws(Rejection) -> Decision {
        let stream = SigningKeys.stream
        let known = facts.thing.state.entries.filter { $0.key.algorithm == next.algorithm }
        guard !facts.thing.state.entries.contains(where: { $0.key.id == next.id }) else {
            throw .idTaken
        }
        var decision = Decision()
        for entry in known {
            if case .retired(let at) = entry.phase, at.adding(seconds: overlap) <= now {
                decision.append(SigningKeyEvent.removed(entry.key.id), in: stream)
            }
        }
        let active = known.filter { $0.phase == .active }
        let successor = known.last { $0.phase == .published }
        if let successor {
            for entry in active {
                decision.append(SigningKeyEvent.retired(entry.key.id, at: now), in: stream)
            }
            decision.append(SigningKeyEvent.activated(successor.key.id), in: stream)
        }
        decision.append(SigningKeyEvent.published(next), in: stream)
        if active.isEmpty, successor == nil {
            decision.append(SigningKeyEvent.activated(next.id), in: stream)
        }
        return decision
    }
}
