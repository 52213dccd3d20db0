public import EventSourcing
public import Values

/// A provider's verified claims about a person who came back from it.
public struct ProviderProof: SignInProof {
    /// What follows from the provider's name for the person, and for their session there.
    public var identity: UUID
    public var upstream: UUID?
    public var provider: String
    /// The delegated code that was shown in the place of coming back from the provider.
    public var delegated: UUID?
    /// Of the attempt: it is good for one.
    public var sessionName: UUID?
    /// What was typed as a second factor, if anything: of an authenticator app, or of a mail.
    public var second: TypedFactor?
    public var typed: TypedMailedCode?
    /// The code that is mailed, if one is needed: its name and digest.
    public var next: (id: UUID, digest: SecretDigest)

    public init(
        identity: UUID, upstream: UUID? = nil, provider: String, sessionName: UUID?,
        second: TypedFactor? = nil, typed: TypedMailedCode? = nil,
        next: (id: UUID, digest: SecretDigest)
    ) {
        self.identity = identity
        self.upstream = upstream
        self.provider = provider
        self.sessionName = sessionName
        self.second = second
        self.typed = typed
        self.next = next
    }

    public struct Facts: Sendable {
        let providers: Versioned<Providers>
        let owner: Versioned<Owner>
        let upstream: Versioned<UpstreamSession>?
        let delegated: Versioned<DelegatedCode>?
        let holder: Holder?
    }

    struct Holder: Sendable {
        let account: Versioned<Account>
        let second: Versioned<TwoFactor>
        let code: Versioned<MailedCode>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let identity = try await streams.read(ProviderIdentity.self, identity)
        let providers = try await streams.read(Providers.self, Providers.stream)
        let owner = try await streams.read(Owner.self, Owner.stream)
        var session: Versioned<UpstreamSession>?
        if let upstream { session = try await streams.read(UpstreamSession.self, upstream) }
        var code: Versioned<DelegatedCode>?
        if let delegated { code = try await streams.read(DelegatedCode.self, delegated) }
        guard let id = identity.state.account else {
            return Facts(
                providers: providers, owner: owner, upstream: session, delegated: code, holder: nil)
        }
        return Facts(
            providers: providers, owner: owner, upstream: session, delegated: code,
            holder: Holder(
                account: try await streams.read(Account.self, id),
                second: try await streams.read(TwoFactor.self, TwoFactor.stream(of: id)),
                code: try await streams.read(
                    MailedCode.self, MailedCode.stream(of: id, .secondFactor))))
    }

    public func account(_ facts: Facts) -> UUID? { facts.holder?.account.stream }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard facts.providers.state[provider] != nil, let holder = facts.holder else {
            throw .unknownIdentity
        }
        let (account, now) = (holder.account, desk.request.now)
        guard account.isWelcome else { throw .accountBlocked }
        guard facts.upstream?.state.isEnded != true,
            facts.delegated?.state.terms?.isKept(by: account.state, at: nil) != false
        else { throw .invalidAssertion }
        var (decision, factors) = (Decision(), [AuthenticationFactor.provider])
        switch SecondStep(holder.second, second, of: account.stream, at: now) {
        case .notNeeded: break
        case .proved(let event):
            decision.append(event, in: holder.second.stream)
            factors += [.timeCode, .multiple]
        case .missing: throw .secondFactorRequired
        case .wrong(let guess):
            if let guess { decision.append(guess, in: holder.second.stream) }
            return SettledDecision(decision, .failure(.invalidSecondFactor))
        }
        if facts.owner.state.account == account.stream, facts.owner.state.needsMailedCode {
            switch MailedStep(holder.code, typed, next: next, of: account, at: now) {
            case .proved(let event):
                decision.append(event, in: holder.code.stream, of: account.stream)
                factors += [.mailedCode, .multiple]
            case .missing(let event):
                return SettledDecision(
                    Decision(event, in: holder.code.stream, of: account.stream),
                    .failure(.secondFactorRequired))
            case .wrong(let event):
                return SettledDecision(
                    event.map { Decision($0, in: holder.code.stream, of: account.stream) }
                        ?? Decision(), .failure(.invalidSecondFactor))
            }
        }
        if let upstream {
            decision.append(
                UpstreamSessionEvent.used(
                    .init(
                        session: desk.request.session, account: account.stream, isBrowser: true)),
                in: upstream)
        }
        return desk.open(
            after: decision, account: account.standing, scope: [],
            factors: factors)
    }
}
