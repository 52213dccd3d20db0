public import EventSourcing
public import Values

/// Has a one-time code sent, by mail or to a phone: to sign in, to join where the realm lets people join, or to
/// reset the PIN of an account.
///
/// Against account enumeration, the caller gets the same answer for every outcome; the outcome is
/// for the metrics alone.
public struct RequestOTP: AnsweringCommand, TimedCommand {
    public enum Route: Sendable {
        case signIn
        /// Through the endpoint that is for registration only.
        case registration
        /// To reset a PIN, which only who has an account has.
        case pinReset
    }

    public var route: Route
    public var app: UUID?
    public var mailbox: UUID
    public var person: Person
    /// The id that the code follows from, and the keyed digest of mailbox and code.
    public var code: UUID
    public var digest: SecretDigest
    /// The stream that follows from the invite code, where one was given.
    public var invite: UUID?
    /// Whether a person without an account may have a code: where not, the result only tells that
    /// the code would have been one for joining.
    public var mayJoin: Bool
    public var now: Timestamp
    /// A keyed digest of the network that it is asked for from.
    public var source: String?
    /// By what the code goes to the person.
    public var channel = Channel.mail
    /// What a link begins with, where one is sent in the place of the digits.
    public var base: String?
    /// It is typed on a page: what is set for pages holds.
    public var isForPage = false
    /// Whether the digits of a code from before can be sent once more: the key that they follow from may be gone.
    public var isReadable: @Sendable (IssuedCode) -> Bool = { _ in true }

    public init(
        route: Route = .signIn, app: UUID? = nil, mailbox: UUID, person: Person, code: UUID,
        digest: SecretDigest, invite: UUID? = nil, mayJoin: Bool = true, now: Timestamp
    ) {
        self.route = route
        self.app = app
        self.mailbox = mailbox
        self.person = person
        self.code = code
        self.digest = digest
        self.invite = invite
        self.mayJoin = mayJoin
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case nativeGrantsDisabled
        /// Sign-in by code is disabled on pages.
        case loginCodeDisabled
        /// Phone numbers are not taken.
        case phoneSignInDisabled
        case invalid(FieldFault)
    }

    public enum Outcome: Equatable, Sendable {
        case issued(IssuedCode.Purpose)
        case nothing(Reason)
    }

    /// Why no code is mailed.
    public enum Reason: Equatable, Sendable {
        case notRegistered
        /// There is no such invite, or none that is good for this mailbox here and now.
        case notInvited
        /// The code would register an account, and the request asked for none.
        case wouldJoin
        case blocked
        /// A code was mailed a moment ago, or many links wait to be opened.
        case tooSoon
        /// Too many wrong guesses.
        case resting
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let settings: Settings
        let mailbox: Versioned<Mailbox>
        let account: Versioned<Account>?
        let invite: Versioned<Invite>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        let mailbox = try await streams.read(Mailbox.self, mailbox)
        var account: Versioned<Account>?
        if let holder = mailbox.state.account {
            account = try await streams.read(Account.self, holder)
        }
        var invited: Versioned<Invite>?
        if let invite { invited = try await streams.read(Invite.self, invite) }
        return Facts(
            realm: realm, settings: settings, mailbox: mailbox, account: account,
            invite: invited)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        if isForPage {
            guard facts.settings.offers(.code) else { throw .loginCodeDisabled }
        } else {
            guard facts.settings[SettingCatalogue.nativeGrants] else {
                throw .nativeGrantsDisabled
            }
        }
        guard channel == .mail || facts.settings[SettingCatalogue.phoneSignIn] else {
            throw .phoneSignInDisabled
        }
        try checkPerson(facts.settings)
        switch purpose(facts) {
        case .failure(let none): return SettledDecision(.nothing(none.reason))
        case .success(let purpose):
            if let reason = throttle(facts) {
                return SettledDecision(renaming(facts, purpose, reason), .nothing(reason))
            }
            if purpose == .registration, !mayJoin { return SettledDecision(.nothing(.wouldJoin)) }
            let issued = issued(for: purpose, facts)
            var decision = Decision()
            if purpose == .registration { accept(facts, into: &decision) }
            decision.append(
                MailboxEvent.codeIssued(issued), in: mailbox, of: facts.mailbox.subject)
            return SettledDecision(decision, .issued(purpose))
        }
    }

    /// The code of a request before this one, where that is young enough: from any caller, it stays valid. So no
    /// stranger's request ends the code that a person has, and no more codes are good than a guess may be right of.
    private func issued(for purpose: IssuedCode.Purpose, _ facts: Facts) -> IssuedCode {
        func issued(_ digest: SecretDigest) -> IssuedCode {
            let lifetime = facts.settings[SettingCatalogue.otpLifetime]
            var issued = IssuedCode(
                id: code, purpose: purpose, digest: digest, app: app, issuedAt: now,
                expiresAt: now.adding(seconds: lifetime), person: reader(facts))
            issued.generation = generation(facts)
            issued.channel = channel
            issued.base = base
            if purpose == .registration { issued.source = source }
            return issued
        }
        let new = issued(digest)
        let attempts = facts.settings[SettingCatalogue.otpAttempts]
        guard
            let known = facts.mailbox.state.repeatableCode(like: new, at: now, attempts: attempts),
            isReadable(known)
        else { return new }
        var repeated = issued(known.digest)
        repeated.repeated = known.root
        return repeated
    }

    /// Names are for an account that is still to be made. Where there is one, a stranger may have asked,
    /// and its owner is not called by what a stranger typed.
    private func reader(_ facts: Facts) -> Person {
        facts.account?.isAlive ?? false ? person.addresses : person
    }

    /// Before anything is known of the mailbox, so that it tells nothing of it.
    private func checkPerson(_ settings: Settings) throws(Rejection) {
        let demands = [
            ("first_name", settings[SettingCatalogue.registrationFirstName], person.firstName),
            ("last_name", settings[SettingCatalogue.registrationLastName], person.lastName),
        ]
        let isAsked = isForPage ? mayJoin : isOpen(settings)
        for (field, demand, value) in demands
        where demand == .required && value == nil && isAsked {
            throw .invalid(FieldFault(field, .missing))
        }
        do throws(FieldFault) {
            try person.check(for: channel)
            // A code proves one address: the other one could be another account's.
            if person.hasBoth { throw FieldFault("phone", .unsupported) }
        } catch {
            throw .invalid(error)
        }
    }

    /// The invite is used up before anything else is written, by the first who comes with it.
    private func accept(_ facts: Facts, into decision: inout Decision) {
        guard facts.settings[SettingCatalogue.registration] == .inviteCode,
            needsInvite(facts), let invite = goodInvite(facts)
        else { return }
        decision.append(InviteEvent.used(mailbox: mailbox, at: now), in: invite.stream)
        decision.append(
            MailboxEvent.invited(
                Invitation(invite: invite.stream, app: invite.state.terms?.app)), in: mailbox,
            of: facts.mailbox.subject)
    }

    /// Who has an account that is still to be confirmed joined already, and an invite that was used up
    /// for a mailbox lets it ask again.
    private func needsInvite(_ facts: Facts) -> Bool {
        let isInvited = facts.mailbox.state.invitation?.admits(to: app) ?? false
        return !isInvited && !(facts.account?.isAlive ?? false)
    }

    private func goodInvite(_ facts: Facts) -> Versioned<Invite>? {
        guard let invite = facts.invite, invite.state.admits(mailbox, to: app, at: now) else {
            return nil
        }
        return invite
    }

    /// The native route to register does nothing where people join in another way, or not at all.
    private func isOpen(_ settings: Settings) -> Bool {
        isForPage || route != .registration
            || settings[SettingCatalogue.registration] == .explicitEndpoint
    }

    private func purpose(_ facts: Facts) -> Result<IssuedCode.Purpose, NoCode> {
        guard isOpen(facts.settings) else { return .failure(NoCode(.notRegistered)) }
        let posture = facts.settings[SettingCatalogue.registration]
        if let account = facts.account, account.isAlive {
            guard account.isWelcome else { return .failure(NoCode(.blocked)) }
            if account.state.isConfirmed {
                return .success(route == .pinReset ? .pinReset : .signIn)
            }
        }
        return switch (posture, route) {
        case (.jitOnOTP, .signIn), (.explicitEndpoint, .registration): .success(.registration)
        case (.inviteCode, .signIn):
            needsInvite(facts) && goodInvite(facts) == nil
                ? .failure(NoCode(.notInvited)) : .success(.registration)
        case (_, .pinReset), (.off, _), (.jitOnOTP, _), (.explicitEndpoint, _), (.inviteCode, _):
            .failure(NoCode(.notRegistered))
        }
    }

    /// Of the proofs of the account that signs in by the code, if there is one.
    private func generation(_ facts: Facts) -> Int {
        facts.account?.state.proofGeneration ?? 0
    }

    /// The names in the request that redeems a code count. Without them, the names in all requests
    /// for the code matter: it is unknown which of these people reads the mail. A page that asks
    /// for no names sends none.
    private func renaming(
        _ facts: Facts, _ purpose: IssuedCode.Purpose, _ reason: Reason
    ) -> Decision {
        guard reason == .tooSoon, purpose == .registration, mayJoin || !isForPage,
            !(facts.account?.isAlive ?? false),
            let code = facts.mailbox.state.newestCode(isForPINReset: false),
            code.purpose == .registration,
            !facts.mailbox.state.wasAsked(for: code, by: CodeAsker(person, from: source))
        else { return Decision() }
        return Decision(
            MailboxEvent.codeRenamed(code.id, person, source: source), in: mailbox,
            of: facts.mailbox.subject)
    }

    private func throttle(_ facts: Facts) -> Reason? {
        let state = facts.mailbox.state
        if state.isResting(at: now) { return .resting }
        let delay = facts.settings[SettingCatalogue.otpResendDelay]
        // An invalidated code does not delay a new one.
        if let code = state.newestCode(isForPINReset: route == .pinReset),
            code.generation == generation(facts), now < code.issuedAt.adding(seconds: delay)
        {
            return .tooSoon
        }
        if base != nil, state.hasMostLinks(at: now, generation: generation(facts)) {
            return .tooSoon
        }
        return nil
    }
}

private struct NoCode: Error {
    let reason: RequestOTP.Reason

    init(_ reason: RequestOTP.Reason) {
        self.reason = reason
    }
}
