public import EventSourcing
public import Values

/// A mailed code that came back. Whoever guesses right signs in; who proves a mailbox that nobody
/// holds yet gets an account for it, where such a code was mailed.
public struct OTPGrant: Grant {
    public var mailbox: UUID
    /// The keyed digest of mailbox and code as they were given.
    public var digest: SecretDigest
    /// The account that is made, if one is.
    public var account: UUID

    public init(mailbox: UUID, digest: SecretDigest, account: UUID) {
        self.mailbox = mailbox
        self.digest = digest
        self.account = account
    }

    public static let type = GrantType.nativeOTP

    public struct Facts: Sendable {
        let mailbox: Versioned<Mailbox>
        let account: Versioned<Account>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        // An account that is to be made is written, so it has to be read as well.
        let holder = mailbox.state.account ?? account
        return Facts(mailbox: mailbox, account: try await streams.read(Account.self, holder))
    }

    public func account(_ facts: Facts) -> UUID? { facts.mailbox.state.account }

    public func subject(_ facts: Facts) -> UUID? { account(facts) ?? facts.mailbox.subject }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> Settled<GrantOutcome> {
        let (mailbox, account, now) = (facts.mailbox, facts.account, desk.request.now)
        let scope = try desk.grantedScope()
        let attempts = desk.settings[SettingCatalogue.otpAttempts]
        guard let code = mailbox.state.liveCode(at: now, attempts: attempts) else {
            throw .invalidCode
        }
        guard code.digest == digest else {
            return Settled(
                Decision(
                    MailboxEvent.codeRefused(code.id, at: now), in: mailbox.stream,
                    of: mailbox.subject),
                .failure(.invalidCode))
        }
        var decision = Decision(
            MailboxEvent.codeRedeemed(code.id), in: mailbox.stream, of: mailbox.subject)
        guard account.exists else {
            // A code that was mailed for an account that is gone makes no new one.
            guard code.purpose == .registration else {
                return Settled(decision, .failure(.invalidCode))
            }
            decision.append(
                AccountEvent.registered(
                    mailbox: mailbox.stream, isConfirmed: true, origin: .code,
                    person: code.person), in: account.stream)
            decision.append(MailboxEvent.assigned(account.stream), in: mailbox.stream)
            return desk.open(
                after: decision, account: (account.stream, 0), scope: scope,
                factors: [.mailedCode])
        }
        guard account.isWelcome else { return Settled(decision, .failure(.accountBlocked)) }
        if !account.state.isConfirmed {
            decision.append(AccountEvent.mailboxConfirmed, in: account.stream)
        }
        return desk.open(
            after: decision, account: (account.stream, account.state.stamp), scope: scope,
            factors: [.mailedCode])
    }
}
