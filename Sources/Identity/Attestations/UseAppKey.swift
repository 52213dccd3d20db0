public import EventSourcing
public import Values

/// Accepts a signature of an installation's key as proof that it is still the same device. Any
/// signature uses the challenge up.
public struct UseAppKey: AnsweringCommand, TimedCommand {
    public enum Proof: Equatable, Sendable {
        /// This key signed, with this number.
        case verified(key: [UInt8], counter: Int64)
        case refused(reason: String)
    }

    public var challenge: UUID
    public var installation: UUID
    public var proof: Proof
    public var now: Timestamp

    public init(challenge: UUID, installation: UUID, proof: Proof, now: Timestamp) {
        self.challenge = challenge
        self.installation = installation
        self.proof = proof
        self.now = now
    }

    public typealias Rejection = CertifyInstallation.Rejection
    public typealias Outcome = CertifyInstallation.Outcome
    public typealias Facts = CertifyInstallation.Facts

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            inRealm: try await .read(installation, from: streams),
            attestation: try await streams.read(Attestation.self, challenge),
            key: try await streams.read(AppKey.self, AppKey.stream(of: installation)),
            owner: try await streams.read(Owner.self, Owner.stream))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard facts.inRealm.thing.installation(at: now) != nil else { throw .notFound }
        guard !facts.attestation.exists, Attestation.isOpen(challenge, at: now) else {
            throw .challengeOver
        }
        switch proof {
        case .refused(let reason): return refused(reason)
        case .verified(let key, let counter):
            guard let known = facts.key.state.key, known.id == key else {
                return refused("other_key")
            }
            guard counter > facts.key.state.counter else { return refused("counter") }
            var decision = Decision(
                AttestationEvent.accepted(
                    installation: installation, by: .appAttest, app: known.app), in: challenge)
            decision.append(AppKeyEvent.used(counter: counter), in: facts.key.stream)
            return SettledDecision(decision, .certified)
        }
    }

    private func refused(_ reason: String) -> SettledDecision<Outcome> {
        SettledDecision(
            Decision(
                AttestationEvent.refused(installation: installation, reason: reason),
                in: challenge), .refused)
    }
}
