public import EventSourcing
public import Values

/// Gives a client tokens for what it shows: a mailed code, a refresh token, or itself. One sign-in
/// opens one session; all its tokens follow from the session and a number.
public struct RedeemGrant: AnsweringCommand {
    public enum Grant: Sendable {
        case otp(OTPGrant)
        case refresh(RefreshGrant)
        case clientCredentials
    }

    public var grant: Grant
    /// The client's stream, its name and its proof.
    public var client: UUID
    public var clientID: String
    public var proof: ClientProof
    public var app: UUID?
    public var scope: [String]
    public var resources: [String]
    /// The session that is opened, if one is.
    public var session: UUID
    public var now: Timestamp

    public init(
        _ grant: Grant, client: UUID, clientID: String, proof: ClientProof, app: UUID? = nil,
        scope: [String] = [], resources: [String] = [], session: UUID, now: Timestamp
    ) {
        self.grant = grant
        self.client = client
        self.clientID = clientID
        self.proof = proof
        self.app = app
        self.scope = scope
        self.resources = resources
        self.session = session
        self.now = now
    }

    public typealias Rejection = GrantRefusal
    /// A refusal here is one that was put on record.
    public typealias Outcome = Result<GrantedTokens, GrantRefusal>

    public struct Facts: Sendable {
        let realm: Versioned<Realm>
        let settings: Settings
        let client: Versioned<Client>
        let proof: ProofFacts
    }

    /// What the grant itself looks at.
    enum ProofFacts: Sendable {
        case mailbox(Versioned<Mailbox>, Versioned<Account>?)
        case session(Versioned<Session>, Versioned<Account>?)
        case nothing
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let client = try await streams.read(Client.self, client)
        let (realm, settings) = try await Realm.settings(
            of: client.state.metadata?.appID ?? app, from: streams)
        let proof: ProofFacts
        switch grant {
        case .otp(let otp): proof = try await otp.gather(streams)
        case .refresh(let refresh): proof = try await refresh.gather(streams)
        case .clientCredentials: proof = .nothing
        }
        if grant.opensSession {
            // Its stream is written, so it has to be read.
            _ = try await streams.read(Session.self, session)
        }
        return Facts(realm: realm, settings: settings, client: client, proof: proof)
    }

    public func settle(_ facts: Facts) throws(GrantRefusal) -> Settled<Outcome> {
        try facts.realm.requireOpen(
            missing: GrantRefusal.realmNotFound, disabled: .realmDisabled)
        guard let metadata = facts.client.aliveMetadata, !facts.client.state.isDisabled,
            facts.client.state.clientID == clientID,
            proof.isGood(for: metadata.authenticationMethod, facts.client.state.secret)
        else { throw .invalidClient }
        if grant.isNative, !facts.settings[SettingCatalogue.nativeGrants] {
            throw .unsupportedGrant
        }
        guard metadata.grantTypes.contains(grant.type) else { throw .unauthorizedClient }
        for resource in resources where !Self.isResource(resource) { throw .invalidResource }
        switch (grant, facts.proof) {
        case (.otp(let otp), .mailbox(let mailbox, let account)):
            let asked = try Scope.granted(scope, to: metadata)
            return try otp.settle(self, facts, mailbox, account, scope: asked)
        case (.refresh(let refresh), .session(let session, let account)):
            return try refresh.settle(self, facts, session, account)
        case (.clientCredentials, _):
            let asked = try Scope.granted(scope, to: metadata)
            // There is nobody who could be offline, or be anybody.
            for scope in asked where Scope.standard.contains(scope) { throw .scopeNotAllowed }
            return open(facts, account: nil, scope: asked, factors: [])
        case (.otp, _), (.refresh, _):
            preconditionFailure("A grant is settled with what it gathered itself.")
        }
    }

    /// The session that a grant opens, behind whatever else it decided.
    func open(
        _ facts: Facts, after decision: Decision = Decision(),
        account: (id: UUID, stamp: Int)?, scope: [String], factors: [AuthenticationFactor]
    ) -> Settled<Outcome> {
        let metadata = facts.client.state.metadata
        let lifetime = facts.settings[SettingCatalogue.sessionLifetime]
        let terms = SessionTerms(
            account: account?.id, stamp: account?.stamp ?? 0, client: client, clientID: clientID,
            app: metadata?.appID ?? app, scope: scope, resources: resources, factors: factors,
            openedAt: now, expiresAt: now.adding(seconds: lifetime),
            isOffline: scope.contains("offline_access")
                && metadata?.grantTypes.contains(.refreshToken) ?? false)
        var decision = decision
        decision.append(SessionEvent.opened(terms), in: session)
        return Settled(
            decision,
            .success(
                GrantedTokens(
                    session: session, generation: 0, terms: terms, scope: scope,
                    resources: resources, lifetime: accessLifetime(facts))))
    }

    /// Seconds that an access token of this grant is good for.
    func accessLifetime(_ facts: Facts) -> Int64 {
        let own = facts.client.state.metadata?.accessTokenLifetime
        if case .clientCredentials = grant {
            return own ?? facts.settings[SettingCatalogue.accessTokenLifetime]
        }
        let isNative = facts.client.state.metadata?.grantTypes.contains { $0.isNative } ?? false
        return own
            ?? facts.settings[
                isNative
                    ? SettingCatalogue.nativeAccessTokenLifetime
                    : SettingCatalogue.accessTokenLifetime]
    }

    /// RFC 8707: an absolute URI without a fragment.
    private static func isResource(_ text: String) -> Bool {
        guard text.utf8.count <= 2048, let uri = AbsoluteURI(text) else { return false }
        return !uri.hasFragment
    }
}

/// What a client gets: the tokens follow from it under the realm's key.
public struct GrantedTokens: Sendable, Equatable {
    public let session: UUID
    /// The number of the refresh token, and of the access token that goes with it.
    public let generation: Int
    public let terms: SessionTerms
    /// What this access token is good for: all of the session's, or less.
    public let scope: [String]
    public let resources: [String]
    /// Seconds.
    public let lifetime: Int64

    public init(
        session: UUID, generation: Int, terms: SessionTerms, scope: [String],
        resources: [String], lifetime: Int64
    ) {
        self.session = session
        self.generation = generation
        self.terms = terms
        self.scope = scope
        self.resources = resources
        self.lifetime = lifetime
    }
}

extension RedeemGrant.Grant {
    var type: GrantType {
        switch self {
        case .otp: .nativeOTP
        case .refresh: .refreshToken
        case .clientCredentials: .clientCredentials
        }
    }

    var isNative: Bool { type.isNative }

    var opensSession: Bool {
        switch self {
        case .otp, .clientCredentials: true
        case .refresh: false
        }
    }
}

extension GrantType {
    /// Signs people in without a browser: only where the realm allows it.
    public var isNative: Bool {
        switch self {
        case .nativeOTP, .nativeMagicLink, .nativePasskey: true
        case .authorizationCode, .refreshToken, .clientCredentials, .deviceCode: false
        }
    }
}
