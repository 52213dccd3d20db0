public import EventSourcing
public import Values

/// A JWT assertion of an issuer that the realm trusts names the person (RFC 7523 section 2.1). The
/// adapter has verified the assertion; it is single-use.
public struct JWTBearerGrant: Grant {
    public enum Subject: Sendable, Equatable {
        case account(UUID)
        /// The account that holds the mailbox and has proved it: an address that a person only
        /// claims must not open another person's account.
        case mailbox(UUID)
    }

    public var subject: Subject
    public var issuer: String
    /// Its `jti`.
    public var id: String
    /// The expiry time: afterwards the assertion is refused anyway.
    public var until: Timestamp

    public init(subject: Subject, issuer: String, id: String, until: Timestamp) {
        self.subject = subject
        self.issuer = issuer
        self.id = id
        self.until = until
    }

    public static let type = GrantType.jwtBearer
    static let claimKind = "trusted_assertion"

    public struct Facts: Sendable {
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        switch subject {
        case .account(let id):
            return Facts(account: try await streams.read(Account.self, id))
        case .mailbox(let id):
            let mailbox = try await streams.read(Mailbox.self, id)
            guard let holder = mailbox.state.account else { return Facts(account: nil) }
            return Facts(account: try await streams.read(Account.self, holder))
        }
    }

    public func account(_ facts: Facts) -> UUID? {
        facts.account.flatMap { $0.exists ? $0.stream : nil }
    }

    public func settle(
        _ facts: Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        let scope = try desk.grantedScope()
        guard let account = facts.account, account.exists else { throw .invalidAssertion }
        if case .mailbox = subject, !account.state.isConfirmed { throw .invalidAssertion }
        guard account.isWelcome else { throw .accountBlocked }
        var decision = Decision()
        decision.take(claim, for: account.stream)
        // What the person has shown is known to the issuer alone.
        return desk.open(
            after: decision, account: account.standing, scope: scope,
            factors: []
        ) { $0.assertionIssuer = issuer }
    }

    /// The issuer's length in front keeps two that run into each other apart.
    private var claim: Claim {
        Claim(Self.claimKind, "\(issuer.utf8.count) \(issuer) \(id)", until: until)
    }
}
