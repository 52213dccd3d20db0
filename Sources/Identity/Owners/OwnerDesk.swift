internal import EventSourcing
public import Values

/// Who a sign-in of an owner is for.
public enum OwnerTarget: Sendable, Equatable {
    /// An installation, with what it showed as its secret. Nil: there is none of the name.
    case installation(UUID?, SecretDigest?)
    /// A web view alone.
    case webView
    /// No session: a new passphrase replaces the one that is shown. Nil: it is chosen in the next step.
    case newPassphrase(DerivedPassphrase?, mail: UUID)
    /// No session: the passphrase is only checked.
    case nobody
}

/// All of an owner's sign-in but what is shown.
public struct OwnerRequest: Sendable {
    public var target: OwnerTarget
    /// The session that is opened, if one is: the name of the attempt, if it fails.
    public var session: UUID
    /// The session code that is given instead, if one is.
    public var code: UUID
    public var from: SignInPlace
    public var now: Timestamp
    /// The name of the mail that tells of a new device, if there is one.
    public var mail: UUID?

    public init(
        target: OwnerTarget, session: UUID, code: UUID, from: SignInPlace = SignInPlace(),
        now: Timestamp
    ) {
        self.target = target
        self.session = session
        self.code = code
        self.from = from
        self.now = now
    }

    var installation: UUID? {
        if case .installation(let installation, _) = target { installation } else { nil }
    }
}

/// Why an owner does not get in, or not in this way.
public enum OwnerRefusal: Error, Equatable, Sendable {
    /// The realm is not of the profile.
    case notOffered
    /// The token is not the one that the owner was given last, or has been used.
    case invalidRegisterToken
    /// The passphrase is wrong, not set, or not accepted now.
    case wrongPassphrase
    case wrongMailedCode
    /// A mailed link that is over, was used, or never was.
    case invalidMagicCode
    /// The link was good, and the passphrase beside it is missing or wrong.
    case passphraseNeeded
    /// A delegated code that is over, was used, or is not the owner's.
    case invalidDelegatedCode
    /// What a provider signed is not good, was used, or is not about the owner.
    case invalidProviderToken
    case invalidScope
    case unknownInstallation
    case wrongSecret
    case invalidRefreshToken
    /// The refresh token was good, and its session is over for good.
    case sessionOver
    /// An authorization code that is over, was used, or is another installation's.
    case invalidCode
    case wrongVerifier
}

extension OwnerRefusal {
    /// What the record says of an attempt to sign in; nil of what is none.
    var recordedReason: String? {
        switch self {
        case .wrongPassphrase: "invalid_passphrase"
        case .wrongMailedCode: "invalid_second_factor"
        case .invalidMagicCode: "invalid_link"
        case .passphraseNeeded: "invalid_passphrase"
        case .invalidDelegatedCode, .invalidProviderToken: "invalid_assertion"
        case .unknownInstallation: "unknown_installation"
        case .wrongSecret: "invalid_client"
        case .notOffered, .invalidRegisterToken, .invalidRefreshToken, .sessionOver,
            .invalidCode, .wrongVerifier, .invalidScope:
            nil
        }
    }
}

/// What an owner's sign-in comes to.
public enum OwnerOutcome: Sendable, Equatable {
    case tokens(GrantedTokens)
    /// The session code of this name: an uncertified app goes on in a web view.
    case sessionCode(UUID)
    /// The mailed code of this name has to be typed as well.
    case mailedCodeNeeded(UUID)
    /// The proof is right, and no session is opened.
    case done
    /// A refusal that was put on record.
    case refused(OwnerRefusal)
}

/// The one place that gives scope `*`: to a certified installation, and to no other client.
struct OwnerDesk: Sendable {
    let request: OwnerRequest
    let realm: Versioned<Realm>
    let owner: Versioned<Owner>
    let account: Versioned<Account>?
    let installation: Versioned<Client>?

    static func read(
        _ request: OwnerRequest, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnerDesk {
        let realm = try await streams.read(Realm.self, Realm.stream)
        let owner = try await streams.read(Owner.self, Owner.stream)
        var account: Versioned<Account>?
        if let id = owner.state.account { account = try await streams.read(Account.self, id) }
        var installation: Versioned<Client>?
        if let id = request.installation {
            installation = try await streams.read(Client.self, id)
        }
        // What is written has to be read.
        _ = try await streams.readNew(Session.self, request.session)
        _ = try await streams.readNew(SessionCode.self, request.code)
        return OwnerDesk(
            request: request, realm: realm, owner: owner, account: account,
            installation: installation)
    }

    func requireOffered() throws(OwnerRefusal) {
        guard realm.state.settings.rules.hasOwner else { throw .notOffered }
    }

    /// The installation, once it has shown that it is the one. Nil for a web view.
    func knownInstallation() throws(OwnerRefusal) -> (Versioned<Client>, ClientMetadata)? {
        switch request.target {
        case .webView, .newPassphrase, .nobody: return nil
        case .installation(_, let secret):
            guard let installation, let metadata = installation.installation(at: request.now)
            else { throw .unknownInstallation }
            // Of random digests it tells nothing how long a comparison takes.
            guard let known = installation.state.secret, known == secret else {
                throw .wrongSecret
            }
            return (installation, metadata)
        }
    }

    /// Tokens for a certified installation, a session code for any other, behind what was decided.
    func open(
        after decision: Decision, account: Versioned<Account>, factors: [AuthenticationFactor],
        scope: [String] = [Installation.scope], atOnboarding: Bool = false
    ) throws(OwnerRefusal) -> SettledDecision<OwnerOutcome> {
        let known = try knownInstallation()
        var decision = decision
        // One too many waits until another one was sent away, on a page.
        let mayEnter =
            known?.0.state.isAdopted == true || !owner.state.isFull(realm.state.settings)
        if let (installation, metadata) = known, mayEnter {
            decision.letIn(
                installation, metadata, by: account.stream, atOnboarding: atOnboarding,
                mail: atOnboarding ? nil : request.mail)
        }
        guard let (installation, metadata) = known, mayEnter,
            !scope.contains(Installation.scope) || installation.state.certification != nil
        else {
            decision.append(
                SessionCodeEvent.issued(
                    SessionCodeTerms(
                        account: account.stream,
                        stamp: account.state.stamp,
                        opener: known.map { Opener(installation: $0.0.stream) },
                        factors: factors,
                        expiresAt: request.now.adding(seconds: SessionCode.lifetime))),
                in: request.code)
            return SettledDecision(decision, .sessionCode(request.code))
        }
        return OwnerDesk.openSession(
            request.session, after: decision, account: account.standing, factors: factors,
            scope: scope,
            installation, metadata, request: (request.from, request.now),
            settings: realm.state.settings)
    }

    /// A session of a certified installation, or one of another scope.
    static func openSession(
        _ session: UUID, after decision: Decision, account: (id: UUID, stamp: SecurityStamp),
        factors: [AuthenticationFactor], scope: [String] = [Installation.scope],
        _ installation: Versioned<Client>, _ metadata: ClientMetadata,
        request: (from: SignInPlace, now: Timestamp), settings: Settings,
        amending amend: (inout SessionTerms.Members) -> Void = { _ in }
    ) -> SettledDecision<OwnerOutcome> {
        precondition(
            !scope.contains(Installation.scope) || installation.state.certification != nil,
            "Only who is certified has everything.")
        let desk = GrantDesk(
            request: GrantRequest(
                client: installation.stream, clientID: installation.state.clientID, proof: .none,
                session: session, from: request.from, now: request.now),
            settings: settings, metadata: metadata, method: .flagship)
        let settled = desk.open(
            after: decision, account: account, scope: scope,
            factors: factors
        ) { terms in
            terms.isOffline = true
            terms.expiresAt = request.now.adding(seconds: Self.sessionLifetime)
            amend(&terms)
        }
        guard case .success(let granted) = settled.outcome else {
            preconditionFailure("A desk that is asked to open opens.")
        }
        return SettledDecision(settled.decision, .tokens(granted))
    }

    /// Ten years: such apps stay until the owner removes them.
    private static let sessionLifetime: Int64 = 3_650 * 86_400

    /// A refusal, and what the record says of the attempt.
    func refused(
        _ refusal: OwnerRefusal, after decision: Decision = Decision()
    ) -> SettledDecision<OwnerOutcome> {
        var decision = decision
        if let reason = refusal.recordedReason {
            decision.append(
                SessionEvent.refused(
                    RefusedSignIn(
                        method: .flagship, reason: reason, account: account?.stream,
                        client: installation?.exists == true
                            ? installation?.stream ?? .zero : .zero,
                        clientID: installation?.state.clientID ?? "", app: nil,
                        from: request.from)), in: request.session)
        }
        return SettledDecision(decision, .refused(refusal))
    }
}

extension Decision {
    /// The first time that an installation is let in.
    mutating func letIn(
        _ installation: Versioned<Client>, _ metadata: ClientMetadata, by account: UUID,
        atOnboarding: Bool, mail: UUID?
    ) {
        guard !installation.state.isAdopted else { return }
        append(ClientEvent.adopted(atOnboarding: atOnboarding), in: installation.stream)
        append(
            OwnerEvent.deviceAdded(
                AddedDevice(
                    installation: installation.stream, clientName: metadata.clientName ?? "",
                    account: account, mail: mail)), in: Owner.stream)
    }
}
