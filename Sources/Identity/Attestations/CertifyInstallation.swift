public import EventSourcing
public import Values

/// Certifies that an installation is the genuine app, by a store's attestation. Any attestation
/// uses the challenge up, also where it certifies nothing.
public struct CertifyInstallation: AnsweringCommand, TimedCommand {
    /// What came of the adapter's verification.
    public enum Proof: Equatable, Sendable {
        case verified(Certification, app: String, key: AttestedKey? = nil)
        /// In words for programs, for the record.
        case refused(reason: String)
    }

    /// The name of the challenge, which was given to this installation.
    public var challenge: UUID
    public var installation: UUID
    public var proof: Proof
    public var now: Timestamp
    /// The name of the mail that tells of it.
    public var mail: UUID?

    public init(challenge: UUID, installation: UUID, proof: Proof, now: Timestamp) {
        self.challenge = challenge
        self.installation = installation
        self.proof = proof
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The challenge was used, or is expired.
        case challengeOver
        /// The device's key certifies another installation.
        case keyTaken
    }

    public enum Outcome: Equatable, Sendable {
        case certified
        case refused
    }

    public struct Facts: RealmFacts {
        let inRealm: InRealm<Client>
        let attestation: Versioned<Attestation>
        let key: Versioned<AppKey>
        let owner: Versioned<Owner>

        public var realm: Versioned<Realm> { inRealm.realm }
    }

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
        case .refused(let reason):
            return SettledDecision(
                Decision(
                    AttestationEvent.refused(installation: installation, reason: reason),
                    in: challenge), .refused)
        case .verified(let certification, let app, let key):
            var decision = Decision(
                AttestationEvent.accepted(
                    installation: installation, by: certification, app: app), in: challenge)
            decision.append(
                ClientEvent.certified(
                    certification, at: now, attestation: challenge,
                    notice: facts.inRealm.thing.certificationNotice(facts.owner, mail: mail)),
                in: installation)
            if let key {
                decision.append(AppKeyEvent.attested(key), in: facts.key.stream)
                // The key stays this installation's, even if its certification ends.
                if !facts.key.state.ids.contains(key.id) {
                    decision.take(AppKey.claim(key.id), for: facts.key.stream)
                }
            }
            return SettledDecision(decision, .certified)
        }
    }

    public func rejection(takenClaim kind: String) -> Rejection { .keyTaken }
}
