public import EventSourcing
public import Values

/// A mailed code that came back. A person who types the right code signs in; who proves a mailbox
/// without an account gets an account for it, where such a code was mailed.
///
/// Where the account has a second factor, one request shows both. A client that did not know may ask
/// again with both: the code is not used up, but each such request is one of the few that a code
/// bears. So it can't be tried without end who has a second factor, and what it is.
public struct OTPGrant: Grant {
    public var mailbox: UUID
    /// Mailbox and code as they were given.
    public var shown: ShownSecret
    /// The account that is made, if one is.
    public var account: UUID
    /// What was typed as a second factor, if anything.
    public var second: TypedFactor?
    /// The names of the person who redeems the code, where the request has them: the code may have
    /// been asked for by another person.
    public var joiner: JoinerNames?
    /// The code that was confirmed by its link, in the place of digits: the page that asked for it knows its
    /// name.
    public var confirmed: UUID?
    /// The client's own name of the request, where it gave it one.
    public var sessionName: UUID?

    public init(
        mailbox: UUID, shown: ShownSecret, account: UUID, second: TypedFactor? = nil
    ) {
        self.mailbox = mailbox
        self.shown = shown
        self.account = account
        self.second = second
    }

    public static let type = GrantType.nativeOTP

    public struct Facts: Sendable {
        let mailbox: Versioned<Mailbox>
        let account: Versioned<Account>
        let second: Versioned<TwoFactor>?
        /// By what the code went to a phone, as far as it is known.
        let channel: Channel?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        let channel = try await channel(
            of: mailbox.state.newestCode(where: isMeant) ?? mailbox.state.code, streams)
        // An account that is to be made is written, so it has to be read as well.
        guard let holder = mailbox.state.account else {
            return Facts(
                mailbox: mailbox, account: try await streams.readNew(Account.self, account),
                second: nil, channel: channel)
        }
        return Facts(
            mailbox: mailbox, account: try await streams.read(Account.self, holder),
            second: try await streams.read(TwoFactor.self, TwoFactor.stream(of: holder)),
            channel: channel)
    }

    /// Whether it is the code that was typed, or whose link was opened.
    private func isMeant(_ code: IssuedCode) -> Bool {
        if let confirmed { return code.id == confirmed && code.base != nil }
        return code.base == nil && shown.matches(code.digest)
    }

    /// The one that took the message; the one that was asked for, where that is not on record yet.
    private func channel(
        of code: IssuedCode?, _ streams: some StreamReader
    ) async throws(LogFailure) -> Channel? {
        guard let code, code.channel != .mail else { return nil }
        return try await streams.read(Mail.self, code.id).state.channel ?? code.channel
    }

    public func account(_ facts: Facts) -> UUID? { facts.mailbox.state.account }

    public func subject(_ facts: Facts) -> UUID? { account(facts) ?? facts.mailbox.subject }

    public func channel(_ facts: Facts) -> Channel? { facts.channel }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let (mailbox, account, now) = (facts.mailbox, facts.account, desk.request.now)
        let scope = try desk.grantedScope()
        let attempts = desk.settings[SettingCatalogue.otpAttempts]
        let live = mailbox.state.liveCodes(
            at: now, attempts: attempts, generation: account.state.proofGeneration)
        // Digits are a guess at every code of digits that is good, and at no link.
        guard
            let newest = live.first(where: { confirmed == nil ? $0.base == nil : isMeant($0) })
        else { throw .invalidCode }
        let refused = Decision(
            MailboxEvent.codeRefused(newest.id, at: now), in: mailbox.stream, of: mailbox.subject)
        guard let code = live.first(where: isMeant) else {
            return SettledDecision(refused, .failure(.invalidCode))
        }
        if let confirmed, !mailbox.state.isConfirmed(confirmed) { throw .invalidCode }
        let factor = confirmed == nil ? AuthenticationFactor.mailedCode : .mailedLink
        var desk = desk
        desk.request.from.channel = facts.channel ?? desk.request.from.channel
        var decision = Decision(
            MailboxEvent.codeRedeemed(code.id), in: mailbox.stream, of: mailbox.subject)
        guard account.exists else {
            // A code that was mailed for an account that is gone makes no new one.
            guard code.purpose == .registration, mayJoin(by: code, mailbox.state, at: desk) else {
                return SettledDecision(decision, .failure(.invalidCode))
            }
            decision.append(
                AccountEvent.registered(
                    mailbox: mailbox.stream, isConfirmed: true, origin: .code,
                    person: person(of: code, mailbox.state, at: desk)), in: account.stream)
            decision.append(MailboxEvent.assigned(account.stream), in: mailbox.stream)
            return desk.open(
                after: decision, account: account.standing, scope: scope,
                factors: [factor])
        }
        guard account.isWelcome else { return SettledDecision(decision, .failure(.accountBlocked)) }
        // As when the code was asked for: an unproved mailbox signs no person in where registration is closed.
        guard account.state.isConfirmed || desk.settings[SettingCatalogue.registration] != .off
        else { return SettledDecision(decision, .failure(.invalidCode)) }
        return desk.open(
            after: decision, orKeeping: refused, account: account, second: facts.second, second,
            scope: scope, factors: [factor])
    }

    public func settleRepeated(
        _ session: Versioned<Session>, _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard let granted = desk.firstAnswer(of: session, for: facts.account) else {
            throw .invalidCode
        }
        return SettledDecision(Decision(), .success(granted))
    }

    /// The realm may have closed joining, or left it to who is invited, since the code was mailed.
    private func mayJoin(
        by code: IssuedCode, _ mailbox: Mailbox, at desk: GrantDesk
    ) -> Bool {
        switch desk.settings[SettingCatalogue.registration] {
        case .off: false
        case .inviteCode: mailbox.invitation?.admits(to: code.app) ?? false
        case .jitOnOTP, .explicitEndpoint: true
        }
    }

    /// The names of the person who redeems the code count, not those of the person who asked for
    /// it.
    private func person(of code: IssuedCode, _ mailbox: Mailbox, at desk: GrantDesk) -> Person {
        joiner?.naming(code.person) ?? mailbox.joiner(of: code, from: desk.request.from.source)
            ?? code.person
    }
}

/// The names of a person who joins, as that person says them.
public struct JoinerNames: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?

    /// Nil for an invalid first or last name.
    public init?(firstName: String?, lastName: String?) {
        for name in [firstName, lastName] {
            if let name, !Person.canBeCalled(name) { return nil }
        }
        self.firstName = firstName
        self.lastName = lastName
    }

    init(of person: Person) {
        (firstName, lastName) = (person.firstName, person.lastName)
    }

    func naming(_ person: Person) -> Person {
        var person = person
        (person.firstName, person.lastName) = (firstName, lastName)
        return person
    }
}
