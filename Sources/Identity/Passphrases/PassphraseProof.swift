public import EventSourcing
public import Values

/// A passphrase that a person typed. The adapter has compared it with what the log keeps, because
/// that takes a while; the decision sees to it that this is still what the log keeps.
public struct PassphraseProof: SignInProof {
    /// How the comparison went, and with what.
    public enum Comparison: Equatable, Sendable {
        case right(hash: String)
        case wrong(hash: String)
        /// The account has no passphrase to compare with.
        case nothing
    }

    /// The stream of the mail address that was typed.
    public var mailbox: UUID
    public var comparison: Comparison
    /// What takes the place of a hash that another system made, once the passphrase is right.
    public var rehashed: String?
    /// What was typed as a second factor, if anything.
    public var second: TypedFactor?
    /// The name of the mail that tells of guesses, if there is one to be sent.
    public var mail: UUID?
    /// What the session is for, where it is for something of its own.
    var scope: [String] = []

    public init(
        mailbox: UUID, comparison: Comparison, rehashed: String? = nil,
        second: TypedFactor? = nil, mail: UUID? = nil
    ) {
        self.rehashed = rehashed
        self.mailbox = mailbox
        self.comparison = comparison
        self.second = second
        self.mail = mail
    }

    public struct Facts: Sendable {
        let holder: Holder?
    }

    struct Holder: Sendable {
        let account: Versioned<Account>
        let passphrase: Versioned<Passphrase>
        let second: Versioned<TwoFactor>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        guard let id = mailbox.state.account else { return Facts(holder: nil) }
        return Facts(
            holder: Holder(
                account: try await streams.read(Account.self, id),
                passphrase: try await streams.read(
                    Passphrase.self, Passphrase.stream(of: id)),
                second: try await streams.read(TwoFactor.self, TwoFactor.stream(of: id))))
    }

    public func account(_ facts: Facts) -> UUID? {
        facts.holder.flatMap { $0.account.exists ? $0.account.stream : nil }
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let now = desk.request.now
        guard let holder = facts.holder, let kept = holder.passphrase.state.hash,
            // The unproved mailbox of an account that an administrator registered may be a
            // stranger's.
            holder.account.state.isConfirmed
        else { throw .invalidPassphrase }
        // While guesses rest, the answer does not tell whether the passphrase is right.
        guard !holder.passphrase.state.isResting(at: now) else { throw .invalidPassphrase }
        switch comparison {
        case .right(let hash) where holder.passphrase.state.keeps(hash):
            guard holder.account.isWelcome else { throw .accountBlocked }
            var decision = Decision()
            if holder.passphrase.state.isForeign, let rehashed {
                decision.append(
                    PassphraseEvent.rehashed(hash: rehashed, account: holder.account.stream),
                    in: holder.passphrase.stream)
            } else if holder.passphrase.state.wasGuessed {
                decision.append(
                    PassphraseEvent.used, in: holder.passphrase.stream, of: holder.account.stream)
            }
            return desk.open(
                after: decision, orKeeping: decision, account: holder.account,
                second: holder.second, second, scope: scope, factors: [.passphrase])
        case .wrong(let hash) where hash == kept:
            let told = holder.passphrase.state.isAboutToRest ? mail : nil
            return SettledDecision(
                Decision(
                    PassphraseEvent.refused(
                        at: now, account: told.map { _ in holder.account.stream }, mail: told),
                    in: holder.passphrase.stream, of: holder.account.stream),
                .failure(.invalidPassphrase))
        // It was changed just now.
        case .right, .wrong, .nothing: throw .invalidPassphrase
        }
    }
}
