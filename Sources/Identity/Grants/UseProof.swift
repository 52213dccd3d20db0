public import EventSourcing

/// Uses up a proof of a key where nothing else is put on record: on every node it was used then.
public struct UseProof: Command {
    public var proof: UsedProof

    public init(_ proof: UsedProof) {
        self.proof = proof
    }

    public enum Rejection: Error, Equatable, Sendable {
        case used
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) {}

    public func decide(_ facts: Void) throws(Rejection) -> Decision {
        var decision = Decision()
        decision.take(proof.claim, for: Realm.stream)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .used }
}
