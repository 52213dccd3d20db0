public import EventSourcing
public import Values

/// Releases a passkey whose account is deleted: its authenticator may be enrolled anew.
public struct ReleasePasskey: Command {
    public var passkey: UUID
    public var account: UUID

    public init(passkey: UUID, account: UUID) {
        self.passkey = passkey
        self.account = account
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Its owner is still there.
        case notDeleted
    }

    public struct Facts: Sendable {
        let account: Versioned<Account>
        let passkey: Versioned<Passkey>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            account: try await streams.read(Account.self, account),
            passkey: try await streams.read(Passkey.self, passkey))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.account.state.isDeleted else { throw .notDeleted }
        guard let enrolled = facts.passkey.alive(of: account) else { return Decision() }
        // The account is deleted, so no notice is mailed.
        var decision = Decision(PasskeyEvent.removed(account: account, mail: nil), in: passkey)
        decision.release(Passkey.claim(enrolled.key.id), by: passkey)
        return decision
    }
}
