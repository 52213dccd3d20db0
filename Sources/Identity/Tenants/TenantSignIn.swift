public import EventSourcing
public import Values

/// A sign-in within a tenant's own app: what was shown opens a session of that app at once, without a page
/// and without a code between.
public struct TenantSignIn<Proof: SignInProof>: Grant {
    public var proof: Proof
    /// The page's way to sign in that it is alike: a realm that does not offer it there offers it nowhere.
    public var way: BrowserMethod?

    public init(_ proof: Proof, like way: BrowserMethod? = nil) {
        self.proof = proof
        self.way = way
    }

    /// Every tenant may open sessions so.
    public static var type: GrantType { .authorizationCode }

    public var sessionName: UUID? { proof.sessionName }
    public var appMethod: AppSignInMethod? {
        proof.appMethod ?? (way == .passkey ? .passkey : nil)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Proof.Facts {
        try await proof.gather(streams)
    }

    public func account(_ facts: Proof.Facts) -> UUID? { proof.account(facts) }

    public func subject(_ facts: Proof.Facts) -> UUID? { proof.subject(facts) }

    public func settle(
        _ facts: Proof.Facts, at desk: GrantDesk
    ) throws(GrantRefusal) -> SettledDecision<GrantOutcome> {
        guard desk.metadata.rules.isTenant else { throw .unauthorizedClient }
        if let way, !desk.settings.offers(way) { throw .unsupportedGrant }
        return try proof.settle(facts, at: desk)
    }
}
