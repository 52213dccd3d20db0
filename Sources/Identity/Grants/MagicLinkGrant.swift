public import EventSourcing
public import Values

/// A mailed link that came back. It is single-use, even if another proof is still missing: its
/// bearer has the mailbox, and can have another link mailed.
public struct MagicLinkGrant: Grant {
    public var account: UUID
    /// The token as it was given.
    public var shown: ShownSecret
    /// What was typed as a second factor, if anything.
    public var second: TypedFactor?
    /// The client's own name of the request, where it gave it one.
    public var sessionName: UUID?

    public init(account: UUID, shown: ShownSecret, second: TypedFactor? = nil) {
        self.account = account
        self.shown = shown
        self.second = second
    }

    public static let type = GrantType.nativeMagicLink

    public struct Facts: Sendable {
        let account: Versioned<Account>
        let mailbox: Versioned<Mailbox>?
        let second: Versioned<TwoFactor>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let account = try await streams.read(Account.self, account)
        guard let mailbox = account.state.mailbox else {
            return Facts(account: account, mailbox: nil, second: nil)
        }
        return Facts(
            account: account, mailbox: try await streams.read(Mailbox.self, mailbox),
            second: try await streams.read(
                TwoFactor.self, TwoFactor.stream(of: account.stream)))
    }

    public func account(_ facts: Facts) -> UUID? { facts.account.exists ? account : nil }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let (account, now) = (facts.account, desk.request.now)
        let scope = try desk.grantedScope()
        guard let mailbox = facts.mailbox,
            let link = mailbox.state.liveLinks(of: account.state, at: now).first(where: {
                $0.account == account.stream && shown.matches($0.digest)
            })
        else { throw .invalidLink }
        let decision = Decision(
            MailboxEvent.linkRedeemed(link.id), in: mailbox.stream, of: mailbox.subject)
        guard account.isWelcome else { return SettledDecision(decision, .failure(.accountBlocked)) }
        return desk.open(
            after: decision, orKeeping: decision, account: account, second: facts.second, second,
            scope: scope, factors: [.mailedLink])
    }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let granted = desk.firstAnswer(of: session, for: facts.account) else {
            throw .invalidLink
        }
        return SettledDecision(Decision(), .success(granted))
    }
}
