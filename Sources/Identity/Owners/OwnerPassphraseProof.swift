public import EventSourcing
public import Values

/// An owner's passphrase that was typed in a browser, and the mailed code beside it where they want that.
public struct OwnerPassphraseProof: SignInProof {
    public var comparison: PassphraseProof.Comparison
    /// The code that was typed, if one was.
    public var typed: TypedMailedCode?
    /// The code that is mailed, if one is needed: its name and digest.
    public var next: (id: UUID, digest: SecretDigest)
    /// The code issued to vouch that the owner reads their mails, if one was shown.
    public var vouched: UUID?
    /// The browser by the name under which it is trusted, if it is.
    public var trusted: UUID?
    /// The id of the browser that becomes a trusted device.
    public var trusting: UUID?

    /// How long no other code is asked for in a trusted browser: thirty days.
    public static let trust: Int64 = 2_592_000

    public init(
        comparison: PassphraseProof.Comparison, typed: TypedMailedCode? = nil,
        next: (id: UUID, digest: SecretDigest)
    ) {
        self.comparison = comparison
        self.typed = typed
        self.next = next
    }

    public struct Facts: Sendable {
        let owner: Versioned<Owner>
        let holder: Holder?
    }

    struct Holder: Sendable {
        let account: Versioned<Account>
        let passphrase: Versioned<Passphrase>
        let code: Versioned<MailedCode>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let owner = try await streams.read(Owner.self, Owner.stream)
        guard let id = owner.state.account else { return Facts(owner: owner, holder: nil) }
        return Facts(
            owner: owner,
            holder: Holder(
                account: try await streams.read(Account.self, id),
                passphrase: try await streams.read(Passphrase.self, Passphrase.stream(of: id)),
                code: try await streams.read(
                    MailedCode.self, MailedCode.stream(of: id, .secondFactor))))
    }

    public func account(_ facts: Facts) -> UUID? { facts.holder?.account.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let now = desk.request.now
        guard let holder = facts.holder, facts.owner.state.isOnboarded else {
            throw .invalidPassphrase
        }
        let account = holder.account
        var decision: Decision
        switch holder.passphrase.examine(comparison, of: account.stream, at: now) {
        case .wrong(let guess): return SettledDecision(guess, .failure(.invalidPassphrase))
        case .right(let right): decision = right
        }
        guard account.isWelcome else { throw .accountBlocked }
        var factors = [AuthenticationFactor.passphrase]
        let owner = facts.owner.state
        if owner.isVouched(vouched, of: account.state, at: now) {
            factors += [.mailedCode, .multiple]
        } else if owner.needsMailedCode, !owner.trusts(trusted, of: account.state, at: now) {
            switch MailedStep(holder.code, typed, next: next, of: account, at: now) {
            case .proved(let event):
                decision.append(event, in: holder.code.stream, of: account.stream)
                factors += [.mailedCode, .multiple]
                if let trusting {
                    decision.append(
                        OwnerEvent.browserTrusted(
                            TimedName(
                                trusting, until: now.adding(seconds: Self.trust),
                                generation: account.state.proofGeneration)),
                        in: Owner.stream)
                }
            case .missing(let event):
                decision.append(event, in: holder.code.stream, of: account.stream)
                return SettledDecision(decision, .failure(.secondFactorRequired))
            case .wrong(let event):
                if let event {
                    decision.append(event, in: holder.code.stream, of: account.stream)
                }
                return SettledDecision(decision, .failure(.invalidSecondFactor))
            }
        }
        return desk.open(
            after: decision, account: account.standing, scope: [],
            factors: factors)
    }
}

/// What comes after an owner's passphrase that was right.
enum MailedStep {
    case proved(MailedCodeEvent)
    case missing(MailedCodeEvent)
    case wrong(MailedCodeEvent?)

    init(
        _ code: Versioned<MailedCode>, _ typed: TypedMailedCode?,
        next: (id: UUID, digest: SecretDigest), of account: Versioned<Account>,
        at now: Timestamp
    ) {
        guard let typed else {
            self = .missing(
                .issued(
                    IssuedMailedCode(
                        id: next.id, purpose: .secondFactor, account: account.stream,
                        digest: next.digest, issuedAt: now,
                        generation: account.state.proofGeneration)))
            return
        }
        guard let live = code.state.code(typed.id, of: account.state, at: now) else {
            self = .wrong(nil)
            return
        }
        self =
            typed.shown.matches(live.digest)
            ? .proved(.redeemed(live.id)) : .wrong(.refused(live.id, at: now))
    }
}
