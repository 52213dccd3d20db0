public import EventSourcing
public import Values

/// Has a link mailed to an address to which a realm's owner wants to move. The owner shows their
/// passphrase for it, except to have the same link mailed again.
///
/// Against account enumeration, the answer does not tell whether another account has the address.
public struct RequestOwnerMove: AnsweringCommand, TimedCommand {
    public enum Proof: Sendable, Equatable {
        case passphrase(PassphraseProof.Comparison)
        /// The owner has shown it already, for this very address.
        case again
    }

    public var proof: Proof
    /// The stream of the new address.
    public var mailbox: UUID
    /// With the new address.
    public var person: Person
    public var code: UUID
    public var digest: SecretDigest
    /// What the link begins with: from the configuration, never from the request.
    public var base: String
    public var now: Timestamp

    /// Who moves may have to find a device that reads the new mailbox.
    public static let lifetime: Int64 = 3_600

    public init(
        _ proof: Proof, to mailbox: UUID, person: Person, code: UUID, digest: SecretDigest,
        base: String, now: Timestamp
    ) {
        self.proof = proof
        self.mailbox = mailbox
        self.person = person
        self.code = code
        self.digest = digest
        self.base = base
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is none who has taken the realm over and may sign in.
        case noOwner
        /// No change of address is under way that could be repeated.
        case noMove
        case invalid(FieldFault)
    }

    public enum Outcome: Equatable, Sendable {
        case requested
        case wrongPassphrase
    }

    public struct Facts: RealmFacts {
        let owner: OwnersPassphrase
        let mailbox: Versioned<Mailbox>

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            owner: try await .read(from: streams),
            mailbox: try await streams.read(Mailbox.self, mailbox))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let owner = facts.owner
        guard let account = owner.account, account.isWelcome, let kept = owner.passphrase,
            owner.owner.thing.state.isOnboarded
        else { throw .noOwner }
        do {
            try person.check(for: .mail)
        } catch {
            throw .invalid(error)
        }
        var decision = Decision()
        switch proof {
        case .again:
            guard owner.owner.thing.state.pendingMove(of: account.state)?.mailbox == mailbox else {
                throw .noMove
            }
        case .passphrase(let comparison):
            switch kept.examine(comparison, of: account.stream, at: now) {
            case .wrong(let guess): return SettledDecision(guess, .wrongPassphrase)
            case .right(let right): decision = right
            }
        }
        let state = facts.mailbox.state
        guard state.account == nil, !state.isRestingFromMoves(at: now) else {
            return SettledDecision(decision, .requested)
        }
        var issued = IssuedCode(
            id: code, purpose: .move, digest: digest, app: nil, issuedAt: now,
            expiresAt: now.adding(seconds: Self.lifetime), person: person)
        issued.base = base
        issued.account = account.stream
        issued.generation = account.state.proofGeneration
        decision.append(
            MailboxEvent.codeIssued(issued), in: mailbox, of: facts.mailbox.subject)
        decision.append(
            OwnerEvent.moveRequested(
                PendingMove(
                    mailbox: mailbox, code: code, generation: account.state.proofGeneration)),
            in: Owner.stream)
        return SettledDecision(decision, .requested)
    }
}
