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
    /// Types of events that the rules look at, whichever actor the event names.
    static let types: Set<String> = [
        AccountEvent.Form.deleted.name, AccountEvent.Form.erased.name,
        AccountEvent.Form.registered.name, TenantMethodEvent.Form.keyEnrolled.name,
        TenantMethodEvent.Form.keyRemoved.name, TenantMethodEvent.Form.pinRefused.name,
        TenantMethodEvent.Form.pinRemoved.name,
        TenantMethodEvent.Form.pinSet.name, TenantMethodEvent.Form.pinUsed.name,
        ApprovalEvent.Form.requested.name, BrowserSessionEvent.Form.ended.name,
        BrowserSessionEvent.Form.opened.name, BrowserSessionEvent.Form.refused.name,
        MailedCodeEvent.Form.issued.name, PasskeyEvent.Form.enrolled.name,
        PassphraseEvent.Form.derived.name, PassphraseEvent.Form.refused.name,
        PassphraseEvent.Form.removed.name, PassphraseEvent.Form.set.name,
        PassphraseEvent.Form.used.name, DisclosureEvent.Form.made.name,
        TwoFactorEvent.Form.recoveryCodeUsed.name, SessionEvent.Form.ended.name,
        SessionEvent.Form.opened.name, SessionEvent.Form.refused.name,
        TwoFactorEvent.Form.confirmed.name, TwoFactorEvent.Form.refused.name,
        TwoFactorEvent.Form.removed.name,
        TwoFactorEvent.Form.used.name,
    ]

    /// What administrators do; what happens in a realm all day without them is not in it.
    static let administration: Set<String> = Set(
        EventCatalogue.newest.map(\.name).filter { name in
            administered.contains { name.hasPrefix($0) } && !name.hasSuffix(".used")
        })

    private static let administered = [
        "account.deletion", AccountEvent.Form.disabled.name, AccountEvent.Form.enabled.name,
        AccountEvent.Form.mailboxMoved.name,
        AccountEvent.Form.personChanged.name, AccountEvent.Form.registered.name,
        AccountEvent.Form.rolesChanged.name,
        AccountEvent.Form.stampRotated.name, "app.", ClientEvent.Form.deleted.name,
        ClientEvent.Form.disabled.name, ClientEvent.Form.enabled.name,
        ClientEvent.Form.registered.name, ClientEvent.Form.secretRotated.name,
        ClientEvent.Form.updated.name, "host.", "integrity_keys.",
        "invite.", "message_gateway.", DisclosureEvent.Form.made.name, "provider.",
        "push_provider.",
        "realm.", "registration_token.", "signing_key.", "subscription.", "web_app.",
    ]

    /// In their order; none of an event that says nothing.
    static func all(of event: Recorded) -> [FindingFact] {
        var facts: [FindingFact] = []
        if let fact = FindingFact(event) { facts.append(fact) }
        if isAdministrator(event.actor) {
            if administration.contains(event.name) { facts.append(.administered(by: event.actor)) }
            if event.name == DisclosureEvent.Form.made.name {
                let accounts = event.open["accounts"]?.array?.compactMap(\.string) ?? []
                facts.append(.disclosed(by: event.actor, accounts: accounts))
            }
        }
        return facts
    }

    private static func isAdministrator(_ actor: String) -> Bool {
        actor.hasPrefix("admin:") || actor.hasPrefix("operator:")
    }

    private init?(_ event: Recorded) {
        switch event.name {
        case BrowserSessionEvent.Form.opened.name, SessionEvent.Form.opened.name:
            guard let signIn = SignIn(event) else { return nil }
            self = .signedIn(signIn)
        case BrowserSessionEvent.Form.refused.name, SessionEvent.Form.refused.name:
            guard let fact = Self.refusal(event) else { return nil }
            self = fact
        case BrowserSessionEvent.Form.ended.name: self = .ended(session: event.stream)
        case SessionEvent.Form.ended.name:
            let reason: SessionEnd? = event.open.choice("reason")
            let isReuse = reason == .reuse || reason == .codeReuse
            self = isReuse ? .reused(session: event.stream) : .ended(session: event.stream)
        case AccountEvent.Form.registered.name: self = .registered(account: event.stream)
        case AccountEvent.Form.deleted.name, AccountEvent.Form.erased.name:
            self = .accountGone(event.stream)
        default:
            guard let fact = Self.ofFactor(event) else { return nil }
            self = fact
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

    private static func ofFactor(_ event: Recorded) -> FindingFact? {
        let account = event.open.uuid("account") ?? event.subject
        switch event.name {
        case PassphraseEvent.Form.refused.name, TwoFactorEvent.Form.refused.name,
            TenantMethodEvent.Form.pinRefused.name:
            return account.map { .guessed(stream: event.stream, account: $0) }
        case PassphraseEvent.Form.used.name, TwoFactorEvent.Form.used.name,
            TwoFactorEvent.Form.recoveryCodeUsed.name, TenantMethodEvent.Form.pinUsed.name,
            TenantMethodEvent.Form.pinRemoved.name, TenantMethodEvent.Form.pinSet.name:
            return .guessesForgotten(stream: event.stream, limit: nil)
        case PassphraseEvent.Form.set.name, PassphraseEvent.Form.removed.name:
            return .guessesForgotten(stream: event.stream, limit: LockOutRule.usualLimit)
        case PassphraseEvent.Form.derived.name:
            return .guessesForgotten(stream: event.stream, limit: LockOutRule.derivedLimit)
        case ApprovalEvent.Form.requested.name:
            return account.map { .secondFactorAsked(account: $0, command: event.command) }
        case MailedCodeEvent.Form.issued.name:
            let purpose: MailedCode.Purpose? = event.open.choice("purpose")
            guard purpose == .secondFactor, let account else { return nil }
            return .secondFactorAsked(account: account, command: event.command)
        case TwoFactorEvent.Form.removed.name, TenantMethodEvent.Form.keyRemoved.name:
            return account.map { .secondFactorRemoved(account: $0) }
        case TwoFactorEvent.Form.confirmed.name, PasskeyEvent.Form.enrolled.name,
            TenantMethodEvent.Form.keyEnrolled.name:
            return account.map { .secondFactorAdded(account: $0) }
        default: return nil
        }
    }
}

extension FindingFact.SignIn {
    /// A session that came of another one, or of an issuer's assertion, is no sign-in.
    init?(_ event: Recorded) {
        guard let account = event.open.uuid("account"), event.open["exchanged"] == nil,
            event.open["assertion_issuer"] == nil,
            event.name == BrowserSessionEvent.Form.opened.name || event.open["browser"] == nil
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
