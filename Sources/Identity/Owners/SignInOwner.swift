public import EventSourcing
public import Values

/// Signs a realm's owner in by their passphrase, and by a mailed code beside it where they want that.
///
/// The order of what is looked at is part of the profile: the passphrase, then the code, and only then
/// who asks.
public struct SignInOwner: AnsweringCommand {
    public var comparison: PassphraseProof.Comparison
    /// The code that was typed, if one was.
    public var typed: TypedMailedCode?
    /// The code that is mailed, if one is needed: its name and digest.
    public var next: (id: UUID, digest: SecretDigest)
    public var request: OwnerRequest
    /// The code issued to vouch that the owner reads their mails, if one was shown.
    public var vouched: UUID?

    public init(
        comparison: PassphraseProof.Comparison, typed: TypedMailedCode? = nil,
        next: (id: UUID, digest: SecretDigest), request: OwnerRequest
    ) {
        self.comparison = comparison
        self.typed = typed
        self.next = next
        self.request = request
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = OwnerOutcome

    public struct Facts: RealmFacts {
        let desk: OwnerDesk
        let secrets: Secrets?

        public var realm: Versioned<Realm> { desk.realm }
    }

    struct Secrets: Sendable {
        let passphrase: Versioned<Passphrase>
        let code: Versioned<MailedCode>
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let desk = try await OwnerDesk.read(request, from: streams)
        guard let account = desk.account?.stream else { return Facts(desk: desk, secrets: nil) }
        return Facts(
            desk: desk,
            secrets: Secrets(
                passphrase: try await streams.read(
                    Passphrase.self, Passphrase.stream(of: account)),
                code: try await streams.read(
                    MailedCode.self, MailedCode.stream(of: account, .secondFactor))))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let (desk, now) = (facts.desk, request.now)
        try desk.requireOffered()
        guard let account = desk.account, account.isWelcome, let secrets = facts.secrets,
            desk.owner.state.isOnboarded
        else { return desk.refused(.wrongPassphrase) }
        var decision: Decision
        switch secrets.passphrase.examine(comparison, of: account.stream, at: now) {
        case .wrong(let guess): return desk.refused(.wrongPassphrase, after: guess)
        case .right(let right): decision = right
        }
        if request.target == .nobody { return SettledDecision(decision, .done) }
        var factors = [AuthenticationFactor.passphrase]
        if desk.owner.state.isVouched(vouched, of: account.state, at: now) {
            factors += [.mailedCode, .multiple]
        } else if desk.owner.state.needsMailedCode {
            switch MailedStep(secrets.code, typed, next: next, of: account, at: now) {
            case .proved(let event):
                decision.append(event, in: secrets.code.stream, of: account.stream)
                factors += [.mailedCode, .multiple]
            case .missing(let event):
                decision.append(event, in: secrets.code.stream, of: account.stream)
                return SettledDecision(decision, .mailedCodeNeeded(next.id))
            case .wrong(let event):
                if let event { decision.append(event, in: secrets.code.stream, of: account.stream) }
                return desk.refused(.wrongMailedCode, after: decision)
            }
        }
        if case .newPassphrase(let passphrase, let mail) = request.target {
            guard let passphrase else { return SettledDecision(decision, .done) }
            decision.changePassphrase(
                .derived(passphrase, account: account.stream, mail: mail, at: now),
                in: secrets.passphrase.stream, of: account.stream)
            return SettledDecision(decision, .done)
        }
        do throws(OwnerRefusal) {
            return try desk.open(after: decision, account: account, factors: factors)
        } catch {
            return desk.refused(error)
        }
    }
}

/// A mailed code as it came back: which one it is, and what was typed.
public struct TypedMailedCode: Sendable, Equatable {
    public var id: UUID
    public var shown: ShownSecret

    public init(id: UUID, shown: ShownSecret) {
        self.id = id
        self.shown = shown
    }
}
