internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// The tokens of the verify profile, made from what a grant gives.
struct VerifyTokens {
    private let context: RealmContext
    private let tenant: Tenant

    init(_ context: RealmContext, _ tenant: Tenant) {
        self.context = context
        self.tenant = tenant
    }

    func answer(_ granted: GrantedTokens, of person: VerifiedPerson) async throws(Problem) -> JSON {
        var members = try await members(granted, of: person, at: context.clock.now())
        if granted.terms.isOffline { members["refresh_token"] = .string(refreshToken(granted)) }
        return .object(members)
    }

    private func members(
        _ granted: GrantedTokens, of person: VerifiedPerson, at now: Timestamp
    ) async throws(Problem) -> JSONObject {
        let access = try await accessToken(granted, of: person, at: now)
        var id = claims(granted, of: person, at: now)
        id["type"] = "client_id_token"
        id["auth_time"] = .string(String(granted.terms.signedInAt.seconds))
        return [
            "access_token": .string(access),
            "id_token": .string(try await signed(id, as: .tenantIDToken)),
            "expires_in": .integer(granted.lifetime), "token_type": "Bearer",
            "auth_method": .string(granted.terms.verifyMethod),
        ]
    }

    func accessToken(
        _ granted: GrantedTokens, of person: VerifiedPerson, at now: Timestamp
    ) async throws(Problem) -> String {
        // What the tenant's server added, which has none of the names below.
        let added = granted.login == nil ? try await claims(addedTo: granted.session) : [:]
        var members = added
        if !added.isEmpty { members["custom_attributes"] = .object(added) }
        members.merge(claims(granted, of: person, at: now)) { _, own in own }
        members["type"] = "client_access_token"
        members["scope"] = "access"
        members["authentication_method"] = .string(granted.terms.verifyMethod)
        members["nbf"] = .integer(now.seconds)
        // A session that ends takes its tokens with it where they are verified here.
        members["sid"] = .string(granted.session.description)
        return try await signed(members, as: .tenantAccessToken)
    }

    /// A session that was opened just now has none.
    private func claims(addedTo session: UUID) async throws(Problem) -> JSONObject {
        try await RealmLookups(context).folded(
            TokenClaims.self, TokenClaims.stream(of: session)
        ).claims
    }

    /// Of a session that goes on: the token ends when the one did that it takes the place of.
    func accessToken(
        of session: UUID, _ terms: SessionTerms, until expiry: Timestamp, for person: VerifiedPerson
    ) async throws(Problem) -> String {
        let now = context.clock.now()
        let granted = goingOn(session, terms, until: expiry, at: now)
        return try await accessToken(granted, of: person, at: now)
    }

    /// The same with an ID token, which some clients cannot do without where they get an access token.
    func answer(
        of session: UUID, _ terms: SessionTerms, until expiry: Timestamp, for person: VerifiedPerson
    ) async throws(Problem) -> JSON {
        let now = context.clock.now()
        let granted = goingOn(session, terms, until: expiry, at: now)
        return .object(try await members(granted, of: person, at: now))
    }

    private func goingOn(
        _ session: UUID, _ terms: SessionTerms, until expiry: Timestamp, at now: Timestamp
    ) -> GrantedTokens {
        GrantedTokens(
            session: session, generation: 0, terms: terms, scope: [], resources: [],
            lifetime: expiry.seconds - now.seconds)
    }

    private func claims(
        _ granted: GrantedTokens, of person: VerifiedPerson, at now: Timestamp
    ) -> JSONObject {
        [
            "sub": .string(person.account.description),
            "client_user_id": .string(person.name(for: tenant.apiKey)),
            "aud": .string(tenant.apiKey),
            "iss": .string(granted.terms.issuer ?? context.place.issuer),
            "identifier": .string(person.address), "jti": .string(context.newID().description),
            "iat": .integer(now.seconds),
            "exp": .integer(now.adding(seconds: granted.lifetime).seconds),
        ]
    }

    private func signed(_ claims: JSONObject, as type: JWTType) async throws(Problem) -> String {
        try await Tokens(context).signed(by: .es256) { key in
            try TenantToken.sign(claims, as: type, by: key)
        }
    }

    // MARK: - Refresh tokens

    /// Some clients expect a number before the secret.
    private func refreshToken(_ granted: GrantedTokens) -> String {
        "\(granted.generation + 1):\(context.mint.refreshToken(granted))"
    }

    static func read(_ text: String, _ mint: TokenMint) -> TokenMint.RefreshToken? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let token = mint.readRefreshToken(String(parts[1])),
            parts[0] == String(token.generation + 1)
        else { return nil }
        return token
    }
}

extension SessionTerms {
    /// By what the person signed in, in the words of the profile.
    var verifyMethod: String {
        if self.factors.contains(.passkey) { return "WEBAUTHN" }
        if self.factors.contains(.pin) { return "PIN" }
        if self.factors.contains(.biometric) { return "BIOMETRIC" }
        if self.factors.contains(.deviceKey) { return "TRUSTED_DEVICE" }
        if self.factors.contains(.provider) { return "SOCIAL_LOGIN" }
        return self.factors.contains(.mailedLink) ? "MAGIC_LINK" : "OTP"
    }
}
