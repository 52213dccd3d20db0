public import EventSourcing
public import Values

/// An assertion of an issuer that the realm trusts, which the app shows to a service (RFC 7522). The adapter has
/// verified it; it is single-use. No device stands above the session that it opens, and the session ends with the
/// trust in the issuer.
public struct OutsideAssertionGrant: Grant {
    public var subject: JWTBearerGrant.Subject
    public var issuer: String
    /// A digest of its issuer and its name.
    public var digest: SecretDigest
    /// The expiry time: afterwards the assertion is refused anyway.
    public var until: Timestamp
    /// The `kid` of the token's key.
    public var keyID: String

    public init(
        subject: JWTBearerGrant.Subject, issuer: String, digest: SecretDigest, until: Timestamp,
        keyID: String
    ) {
        self.subject = subject
        self.issuer = issuer
        self.digest = digest
        self.until = until
        self.keyID = keyID
    }

    public static let type = GrantType.jwtBearer

    public var appMethod: AppSignInMethod? { .saml }

    public struct Facts: Sendable {
        let account: Versioned<Account>?
        let standing: Versioned<ServiceStanding>?
    }

    /// The service itself shows it, for what OpenID gives: the request's scope counts then.
    public var takesScope = false

    /// The service that it is shown to.
    public var service: UUID?

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let holder: UUID?
        switch subject {
        case .account(let id): holder = id
        case .mailbox(let id): holder = try await streams.read(Mailbox.self, id).state.account
        }
        guard let holder, let service else { return Facts(account: nil, standing: nil) }
        return Facts(
            account: try await streams.read(Account.self, holder),
            standing: try await streams.read(
                ServiceStanding.self, ServiceStanding.stream(of: holder, at: service)))
    }

    public func account(_ facts: Facts) -> UUID? {
        facts.account.flatMap { $0.exists ? $0.stream : nil }
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard service == desk.request.client, let account = facts.account, account.exists,
            account.state.isConfirmed || subject == .account(account.stream)
        else { throw .invalidAssertion }
        guard account.isWelcome else { throw .accountBlocked }
        guard facts.standing?.state.isRefused != true else { throw .exchangeNotAllowed }
        let scope = takesScope ? try desk.grantedScope() : []
        var decision = Decision()
        decision.take(
            Claim("outside_assertion", digest.base64URL, until: until), for: account.stream)
        var desk = desk
        desk.federation = FederatedToken(holder: .service, keyID: keyID, device: nil)
        return desk.open(
            after: decision, account: account.standing, scope: scope,
            factors: []
        ) { $0.assertionIssuer = issuer }
    }
}
