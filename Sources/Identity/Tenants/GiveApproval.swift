public import EventSourcing
public import Values

/// Puts on record that a person agreed to something within a tenant's app, and lets another device in where a
/// trusted one says so. It signs no person in.
public struct GiveApproval: AnsweringCommand, TimedCommand {
    public var proof: DeviceProof
    public var now: Timestamp

    public init(_ proof: DeviceProof, now: Timestamp) {
        self.proof = proof
        self.now = now
    }

    public typealias Rejection = GrantRefusal
    /// A refusal here is one that was put on record.
    public typealias Outcome = Result<UUID, GrantRefusal>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> DeviceProof.Facts {
        try await proof.gather(streams)
    }

    public func settle(_ facts: DeviceProof.Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let (decision, refusal) = try proof.examine(facts, at: now)
        return SettledDecision(decision, refusal.map { .failure($0) } ?? .success(proof.approval))
    }
}
