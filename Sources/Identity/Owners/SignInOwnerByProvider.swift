public import EventSourcing
public import Values

/// Signs a realm's owner in with an app, by a provider's claims about them.
///
/// The order of the checks is part of the profile: the proof, then the client, then the mailed
/// code, and last what is asked for. The proof is used up by a successful sign-in, and not before:
/// apps come back with it and the code.
public struct SignInOwnerByProvider: AnsweringCommand {
    public enum Shown: Equatable, Sendable {
        /// One of ours: nil where there is no such code.
        case code(UUID?)
        /// What a provider signed for the app, and the adapter has found to be good: nil where it was
        /// not. Its stream follows from its text.
        case token(UUID, DelegatedCodeTerms?)
    }

    public var shown: Shown
    /// The requested scopes; nil for none, or for invalid ones.
    public var scope: [String]?
    /// The code that was typed, if one was.
    public var typed: TypedMailedCode?
    /// The code that is mailed, if one is needed: its name and digest.
    public var next: (id: UUID, digest: SecretDigest)
    public var request: OwnerRequest

    public init(
        shown: Shown, scope: [String]?, typed: TypedMailedCode? = nil,
        next: (id: UUID, digest: SecretDigest), request: OwnerRequest
    ) {
        self.shown = shown
        self.scope = scope
        self.typed = typed
        self.next = next
        self.request = request
    }

    public typealias Rejection = OwnerRefusal
    public typealias Outcome = OwnerOutcome

    public struct Facts: RealmFacts {
        let desk: OwnerDesk
        let providers: Versioned<Providers>
        let shown: Versioned<DelegatedCode>?
        let terms: DelegatedCodeTerms?
        let identity: Versioned<ProviderIdentity>?
        let upstream: Versioned<UpstreamSession>?
        let code: Versioned<MailedCode>?

        public var realm: Versioned<Realm> { desk.realm }
    }

    public func notBefore(_ time: Timestamp) -> Self {
        var later = self
        later.request.now = max(later.request.now, time)
        return later
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let desk = try await OwnerDesk.read(request, from: streams)
        let providers = try await streams.read(Providers.self, Providers.stream)
        var code: Versioned<MailedCode>?
        if let account = desk.account?.stream {
            code = try await streams.read(
                MailedCode.self, MailedCode.stream(of: account, .secondFactor))
        }
        var known: Versioned<DelegatedCode>?
        var terms: DelegatedCodeTerms?
        switch shown {
        case .code(let id):
            if let id {
                let found = try await streams.read(DelegatedCode.self, id)
                known = found
                terms = found.state.terms
            }
        case .token(let id, let claimed):
            known = try await streams.read(DelegatedCode.self, id)
            terms = claimed
        }
        var identity: Versioned<ProviderIdentity>?
        var session: Versioned<UpstreamSession>?
        if let terms {
            identity = try await streams.read(ProviderIdentity.self, terms.identity)
            if let upstream = terms.upstream {
                session = try await streams.read(UpstreamSession.self, upstream)
            }
            if let installation = request.installation {
                _ = try await streams.read(
                    InstallationUpstream.self, InstallationUpstream.stream(of: installation))
            }
        }
        return Facts(
            desk: desk, providers: providers, shown: known, terms: terms, identity: identity,
            upstream: session, code: code)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        let (desk, now) = (facts.desk, request.now)
        try desk.requireOffered()
        guard let account = desk.account, account.isWelcome, desk.owner.state.isOnboarded,
            let shown = facts.shown, !shown.state.isUsed, let terms = facts.terms,
            now < terms.expiresAt, facts.providers.state[terms.provider] != nil,
            // Only the owner's identity signs in, however trusted the provider is.
            facts.identity?.state.account == account.stream, let code = facts.code,
            // What is over at the provider, or was over here since then, opens nothing.
            facts.upstream?.state.isEnded != true,
            terms.isKept(by: account.state, at: request.installation)
        else { return desk.refused(wrongProof) }
        let installation: Versioned<Client>
        do throws(OwnerRefusal) {
            guard let known = try desk.knownInstallation() else { throw .unknownInstallation }
            installation = known.0
        } catch {
            return desk.refused(error)
        }
        var decision = Decision()
        var factors = [AuthenticationFactor.provider]
        if desk.owner.state.needsMailedCode {
            switch MailedStep(code, typed, next: next, of: account, at: now) {
            case .proved(let event):
                decision.append(event, in: code.stream, of: account.stream)
                factors += [.mailedCode, .multiple]
            case .missing(let event):
                return SettledDecision(
                    Decision(event, in: code.stream, of: account.stream),
                    .mailedCodeNeeded(next.id))
            case .wrong(let event):
                return desk.refused(
                    .wrongMailedCode,
                    after: event.map { Decision($0, in: code.stream, of: account.stream) }
                        ?? Decision())
            }
        }
        guard let scope, !scope.isEmpty,
            !scope.contains(Installation.scope) || scope == [Installation.scope]
        else { return SettledDecision(.refused(.invalidScope)) }
        decision.append(
            DelegatedCodeEvent.used(installation: installation.stream), in: shown.stream)
        if let upstream = terms.upstream {
            decision.append(
                UpstreamSessionEvent.used(
                    .init(session: request.session, account: account.stream, isBrowser: false)),
                in: upstream)
            decision.append(
                InstallationUpstreamEvent.bound(
                    provider: terms.provider, name: terms.upstreamName),
                in: InstallationUpstream.stream(of: installation.stream))
        }
        return try desk.open(
            after: decision, account: account, factors: factors, scope: scope)
    }

    private var wrongProof: OwnerRefusal {
        switch shown {
        case .code: .invalidDelegatedCode
        case .token: .invalidProviderToken
        }
    }
}
