internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// The names of one account. Receivers name accounts in several forms, and mean the account.
extension SignalReader {
    /// By which a stream treats the account of a subject as well.
    func otherNames(
        of subject: NamedSubject, in stream: KnownSignalStream
    ) async throws(LogFailure) -> Set<NamedSubject> {
        let named = stream.state.named
        if named.isEmpty { return [] }
        let addressee = try await addressee(of: stream, in: stream.realm)
        switch subject {
        case .mailbox(let mailbox):
            guard let account = try await account(of: mailbox, stream.realm) else { return [] }
            return named.intersection([.sub(addressee.sub(of: account))])
        case .sub(let sub) where addressee.sector == nil:
            guard let account = UUID(sub),
                let mailbox = try await mailbox(of: account, stream.realm)
            else { return [] }
            return named.intersection([.mailbox(mailbox)])
        case .sub(let sub):
            // Nothing leads from a pairwise subject to its account.
            var names: Set<NamedSubject> = []
            for case .mailbox(let mailbox) in named {
                let account = try await account(of: mailbox, stream.realm)
                if let account, addressee.sub(of: account) == sub {
                    names.insert(.mailbox(mailbox))
                }
            }
            return names
        }
    }

    /// The account that signals know by a mailbox.
    private func account(
        of mailbox: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> UUID? {
        var state = Mailbox()
        for recorded in try await events.stream(mailbox, after: 0, in: realm) {
            guard let event = MailboxEvent(recorded) else { throw .damaged }
            state.apply(event)
        }
        guard let account = state.account,
            try await self.mailbox(of: account, realm) == mailbox
        else { return nil }
        return account
    }
}
