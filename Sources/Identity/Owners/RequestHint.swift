public import EventSourcing
public import Values

/// Mails an owner the hint of their passphrase.
public struct RequestHint: Command {
    public var mail: UUID

    public init(mail: UUID) {
        self.mail = mail
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// There is no owner who may sign in, or there is no hint.
        case noHint
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> OwnersPassphrase {
        try await .read(from: streams)
    }

    public func decide(_ facts: OwnersPassphrase) throws(Rejection) -> Decision {
        guard let account = facts.account, account.isWelcome, let passphrase = facts.passphrase,
            facts.owner.thing.state.isOnboarded, let hint = passphrase.state.derived?.hint
        else { throw .noHint }
        return Decision(
            PassphraseEvent.hintRequested(hint, account: account.stream, mail: mail),
            in: passphrase.stream)
    }
}
