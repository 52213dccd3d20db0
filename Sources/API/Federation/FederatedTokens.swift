internal import Identity
internal import JSON
internal import Values

/// The answers of the profile's token endpoints.
struct FederatedTokens {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// A token that its holder signs requests with.
    func signing(_ granted: GrantedTokens) -> JSON {
        guard let token = granted.terms.federation else { return [:] }
        let key = context.mint.requestKey(granted.session, granted.generation)
        var members: JSONObject = [
            "access_token": .string(
                context.mint.federatedToken(token.keyID, granted.session, granted.generation)),
            "token_type": "mac", "kid": .string(token.keyID), "mac_key": .string(key),
            "mac_algorithm": "HS256",
        ]
        if context.place.settings[SettingCatalogue.untimedRequests] != .refused {
            members["jwk"] = [
                "kty": "oct", "use": "sig", "alg": "HS256", "kid": .string(token.keyID),
            ]
            members["k"] = .string(key)
        }
        if token.holder != .device { members["expires_in"] = .integer(granted.lifetime) }
        if granted.terms.isOffline {
            members["refresh_token"] = .string(context.mint.refreshToken(granted))
        }
        return .object(members)
    }

    /// A token of another app: it is shown as it is, and introspected by the service.
    func bearer(_ granted: GrantedTokens) async throws(Problem) -> JSON {
        let now = context.clock.now()
        var members: JSONObject = [
            "access_token": .string(
                try await Tokens(context).accessToken(granted, at: now)),
            "token_type": "Bearer", "expires_in": .integer(granted.lifetime),
            "scope": .string(granted.scope.joined(separator: " ")),
        ]
        if granted.terms.isOffline {
            members["refresh_token"] = .string(context.mint.refreshToken(granted))
        }
        return .object(members)
    }

    func answer(_ granted: GrantedTokens) async throws(Problem) -> JSON {
        granted.terms.federation?.holder == .application
            ? try await bearer(granted) : signing(granted)
    }
}
