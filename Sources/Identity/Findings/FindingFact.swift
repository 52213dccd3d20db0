internal import EventSourcing
internal import JSON
internal import Values

/// What an event says to the rules.
enum FindingFact: Sendable {
    struct Attempt: Sendable {
        /// Nil where no account has the typed address, or it is not known.
        let account: UUID?
        let source: String?
    }

    struct SignIn: Sendable {
        let account: UUID
        let session: UUID
        let source: String?
        let device: String?
        /// Where the network is, as far as the event says so to everybody.
        let country: String?
        let area: GeoSquare?
        /// The person showed a second factor, or confirmed it on a device.
        let isConfirmed: Bool
    }

    /// A failed sign-in: with a wrong secret.
    case failed(Attempt)
    case signedIn(SignIn)
    /// A session of a client or a browser ended.
    case ended(session: UUID)
    /// A used refresh token was presented again.
    case reused(session: UUID)
    /// A wrong guess, which is counted by its stream.
    case guessed(stream: UUID, account: UUID)
    /// No guess counts any more; from now on so many are allowed, if that is said.
    case guessesForgotten(stream: UUID, limit: Int?)
    case secondFactorAsked(account: UUID, command: UUID)
    case secondFactorRemoved(account: UUID)
    case secondFactorAdded(account: UUID)
    case registered(account: UUID)
    case accountGone(UUID)
    case administered(by: String)
    case disclosed(by: String, accounts: [String])
}

extension FindingFact {
    typealias Reader = @Sendable (Recorded) -> FindingFact?

    /// Types of events that the rules look at, whichever actor the event names.
    static let types = Set(readers.keys)

    /// What administrators do; what happens in a realm all day without them is not in it.
    static let administration = Set(
        EventCatalogue.meanings.filter { isAdministration($0.value) }.keys)

    private static let readers: [String: Reader] = EventCatalogue.meanings
        .compactMapValues(reader)

    /// In their order; none of an event that says nothing.
    static func all(of event: Recorded) -> [FindingFact] {
        let isAct = isAdministrator(event.actor) && administration.contains(event.name)
        let act: FindingFact? = isAct ? .administered(by: event.actor) : nil
        return [act, readers[event.name]?(event)].compactMap(\.self)
    }

    private static func isAdministrator(_ actor: String) -> Bool {
        actor.hasPrefix("admin:") || actor.hasPrefix("operator:")
    }

    /// How an event with this meaning is read; nil where no rule looks at it.
    private static func reader(of meaning: EventMeaning) -> Reader? {
        switch meaning {
        case .signedIn(let place): { SignIn($0, place).map(FindingFact.signedIn) }
        case .signInRefused: refusal
        case .sessionEnded(.browser): { .ended(session: $0.stream) }
        case .sessionEnded(.client): end
        case .registered: { .registered(account: $0.stream) }
        case .accountDeleted, .accountErased: { .accountGone($0.stream) }
        case .secretRefused:
            { event in account(of: event).map { .guessed(stream: event.stream, account: $0) } }
        case .secretUsed: { .guessesForgotten(stream: $0.stream, limit: nil) }
        case .secretSet(let secret), .secretRemoved(let secret):
            { .guessesForgotten(stream: $0.stream, limit: limit(of: secret)) }
        case .secondFactorAsked: asked
        case .codeMailed:
            { $0.open.choice("purpose") == MailedCode.Purpose.secondFactor ? asked($0) : nil }
        case .factorAdded: { account(of: $0).map(FindingFact.secondFactorAdded) }
        case .factorRemoved(.authenticator), .factorRemoved(.deviceKey):
            { account(of: $0).map(FindingFact.secondFactorRemoved) }
        case .disclosed: disclosure
        // The engine reads them itself.
        case .findingRaised, .findingEscalated, .findingClosed, .findingRulesSet: nil
        case .detail, .sessionRefreshed, .administratorRefused, .step, .linkMailed,
            .recoveryCodesRenewed, .factorRemoved(.passkey), .passkeyRefused, .passkeyRenamed,
            .mailedCodesChanged, .accountDisabled, .accountEnabled, .deletionScheduled,
            .deletionCancelled, .accessRemoved, .stampRotated, .rolesChanged, .ownerAppointed,
            .consentGiven, .consentWithdrawn, .personChanged, .mailboxChanged, .mailboxMoved,
            .recoveryChanged, .recoveryRequested, .accountChanged, .deviceAdded, .deviceRemoved,
            .deviceCertified, .certificationRevoked, .administration, .realmSettingsChanged,
            .caseFileIssued, .object:
            nil
        }
    }

    /// Whether the rules for administrators look at an event with this meaning.
    private static func isAdministration(_ meaning: EventMeaning) -> Bool {
        switch meaning {
        case .administration, .realmSettingsChanged, .disclosed, .registered, .accountDisabled,
            .accountEnabled, .deletionScheduled, .deletionCancelled, .stampRotated, .rolesChanged,
            .personChanged, .mailboxMoved:
            true
        case .detail, .signedIn, .signInRefused, .sessionEnded, .sessionRefreshed,
            .administratorRefused, .step, .secondFactorAsked, .codeMailed, .linkMailed, .secretSet,
            .secretRemoved, .secretRefused, .secretUsed, .recoveryCodesRenewed, .factorAdded,
            .factorRemoved, .passkeyRefused, .passkeyRenamed, .mailedCodesChanged,
            .accountDeleted, .accountErased, .accessRemoved, .ownerAppointed, .consentGiven,
            .consentWithdrawn, .mailboxChanged, .recoveryChanged, .recoveryRequested,
            .accountChanged, .deviceAdded, .deviceRemoved, .deviceCertified, .certificationRevoked,
            .caseFileIssued, .findingRaised, .findingEscalated, .findingClosed, .findingRulesSet,
            .object:
            false
        }
    }

    /// What of the refused is no guess: the first factor was right, or the request alone was at fault.
    private static let noGuesses: Set<String> = [
        "account_blocked", "actor_not_allowed", "client_disabled", "exchange_not_allowed",
        "invalid_client", "resource_refused", "scope_refused", "second_factor_required",
        "stronger_sign_in_needed", "unproven_token",
    ]
    /// By these grants no person signs in: a token is renewed or passed on.
    private static let noSignIns: Set<String> = [
        "authorization_code", "client_credentials", "refresh_token",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:saml2-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
    ]

    /// Whether the sign-in failed because its code, passphrase, passkey or second factor was wrong.
    static func isGuess(_ reason: String?, _ method: String?) -> Bool {
        !noGuesses.contains(reason ?? "") && !noSignIns.contains(method ?? "")
    }

    private static func refusal(_ event: Recorded) -> FindingFact? {
        let reason = event.open["reason"]?.string ?? ""
        let account = event.open.uuid("account")
        if reason == "second_factor_required" {
            return account.map { .secondFactorAsked(account: $0, command: event.command) }
        }
        guard isGuess(reason, event.open["method"]?.string) else { return nil }
        return .failed(Attempt(account: account, source: event.open["source"]?.string))
    }

    private static func end(_ event: Recorded) -> FindingFact {
        let reason: SessionEnd? = event.open.choice("reason")
        let isReuse = reason == .reuse || reason == .codeReuse
        return isReuse ? .reused(session: event.stream) : .ended(session: event.stream)
    }

    private static func asked(_ event: Recorded) -> FindingFact? {
        account(of: event).map { .secondFactorAsked(account: $0, command: event.command) }
    }

    private static func disclosure(_ event: Recorded) -> FindingFact? {
        guard isAdministrator(event.actor) else { return nil }
        let accounts = event.open["accounts"]?.array?.compactMap(\.string) ?? []
        return .disclosed(by: event.actor, accounts: accounts)
    }

    private static func account(of event: Recorded) -> UUID? {
        event.open.uuid("account") ?? event.subject
    }

    /// How many wrong guesses are allowed from now on; nil where that is as before.
    private static func limit(of secret: GuessableSecret) -> Int? {
        switch secret {
        case .passphrase: LockOutRule.usualLimit
        case .derivedPassphrase: LockOutRule.derivedLimit
        case .pin, .authenticator, .recoveryCode: nil
        }
    }
}

extension FindingFact.SignIn {
    /// A session that came of another one, or of an issuer's assertion, is no sign-in.
    init?(_ event: Recorded, _ place: SessionPlace) {
        guard let account = event.open.uuid("account"), event.open["exchanged"] == nil,
            event.open["assertion_issuer"] == nil,
            place == .browser || event.open["browser"] == nil
        else { return nil }
        let confirming: [AuthenticationFactor] = [.multiple, .deviceKey, .biometric]
        let factors = event.open.texts("amr") ?? []
        self.init(
            account: account, session: event.stream, source: event.open["source"]?.string,
            device: event.open["device"]?.string, country: event.open["country"]?.string,
            area: event.open["area"]?.string.flatMap(GeoSquare.init),
            isConfirmed: confirming.contains { factors.contains($0.rawValue) })
    }
}
