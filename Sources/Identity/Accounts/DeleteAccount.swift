public import EventSourcing
internal import JSON
public import Values

/// Ends an account whose deletion is due, for good, and gives up all that it holds. The keys of its
/// person are destroyed behind it: what cannot come back must not go before the decision is taken.
///
/// In a realm disabled meanwhile, accounts are deleted on time all the same.
public struct DeleteAccount: TimedCommand {
    public var account: UUID
    /// Their keys must not be among those that go.
    public var next: NextSubjects
    public var now: Timestamp

    public init(account: UUID, next: NextSubjects, now: Timestamp) {
        self.account = account
        self.next = next
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The deletion was not requested, or its grace period is not over.
        case notDue
    }

    public struct Facts: Sendable {
        let inRealm: InRealm<Account>
        let mailboxes: [Versioned<Mailbox>]
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm = try await InRealm<Account>.read(account, from: streams)
        var mailboxes: [Versioned<Mailbox>] = []
        for held in inRealm.thing.state.addresses?.all ?? [] {
            mailboxes.append(try await streams.read(Mailbox.self, held))
        }
        return Facts(inRealm: inRealm, mailboxes: mailboxes)
    }

    public func requireRealm(_ facts: Facts) throws(RealmRejection) {
        guard facts.inRealm.realm.exists else { throw .realmNotFound }
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        let thing = facts.inRealm.thing
        guard thing.isAlive else { throw .notFound }
        guard let due = thing.state.deletionDue, due <= now else { throw .notDue }
        var subjects = thing.state.subjects
        var decision = Decision()
        for mailbox in facts.mailboxes where mailbox.state.account == account {
            subjects.append(mailbox.subject)
            decision.append(
                MailboxEvent.released(account, next: next.of(mailbox, thing)), in: mailbox.stream)
        }
        decision.append(AccountEvent.deleted(subjects: subjects), in: account)
        return decision
    }
}
