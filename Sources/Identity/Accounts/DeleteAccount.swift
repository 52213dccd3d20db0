public import EventSourcing
public import Values

/// Ends an account for good and frees its mailbox. What is personal is erased by itself.
public struct DeleteAccount: Command {
    public var account: UUID

    public init(account: UUID) {
        self.account = account
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case notFound
    }

    public struct Facts: Sendable {
        let inRealm: InRealm<Account>
        let mailbox: Versioned<Mailbox>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm = try await InRealm<Account>.read(account, from: streams)
        var mailbox: Versioned<Mailbox>?
        if let held = inRealm.thing.state.mailbox {
            mailbox = try await streams.read(Mailbox.self, held)
        }
        return Facts(inRealm: inRealm, mailbox: mailbox)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try facts.inRealm.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard facts.inRealm.thing.isAlive else { throw .notFound }
        var decision = Decision(AccountEvent.deleted, in: account)
        if let mailbox = facts.mailbox, mailbox.state.account == account {
            decision.append(MailboxEvent.released(account), in: mailbox.stream)
        }
        return decision
    }
}
