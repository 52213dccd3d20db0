public import EventSourcing
public import Values

/// Gives an owner without a passphrase a new one, by their certified app. An existing passphrase is
/// changed by a person who knows it, or has the mailbox.
public struct RestorePassphrase: TimedCommand {
    public var passphrase: DerivedPassphrase
    public var mail: UUID
    public var now: Timestamp

    public init(_ passphrase: DerivedPassphrase, mail: UUID, now: Timestamp) {
        self.passphrase = passphrase
        self.mail = mail
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case noOwner
        /// The owner has a passphrase.
        case set
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersPassphrase {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersPassphrase) throws(Rejection) -> Decision {
        guard let account = facts.account, account.isWelcome, let kept = facts.passphrase,
            facts.owner.thing.state.isOnboarded
        else { throw .noOwner }
        guard kept.state.hash == nil else { throw .set }
        var decision = Decision()
        decision.changePassphrase(
            .derived(passphrase, account: account.stream, mail: mail, at: now),
            in: kept.stream, of: account.stream)
        return decision
    }
}
