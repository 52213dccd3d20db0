internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// Requests that their client has signed (RFC 9101). One without a signature is refused, and never
/// passed over.
extension AuthorizationReader {
    private static let types = TokenTypes(
        ["oauth-authz-req+jwt", "JWT"], mayBeAbsent: true)
    /// Maximum age and lifetime of a request object in seconds.
    private static let longestLifetime: Int64 = 3600

    /// What the client wants: what its object says, and of the parameters beside it nothing. So the object
    /// has to say whose it is (RFC 9101 section 6.3), and nothing else that a client signs passes for one.
    func resolved(
        _ parameters: AuthorizationParameters
    ) async throws(AuthorizationFault) -> AuthorizationParameters {
        guard !parameters.repeated.contains("request") else {
            throw AuthorizationFault(.invalidRequest, "A parameter is given more than once.")
        }
        guard let text = parameters["request"] else {
            guard !metadata.needsSignedRequests else {
                throw AuthorizationFault(.invalidRequest, "The client signs its requests.")
            }
            return parameters
        }
        guard let claims = await claims(of: text) else {
            throw AuthorizationFault(
                .invalidRequestObject, "The request object is not one that this client signed.")
        }
        guard isForUs(claims) else {
            throw AuthorizationFault(
                .invalidRequestObject,
                "The aud, iss, exp or nbf of the request object is missing or is not right.")
        }
        let members = claims.members
        // One about the client itself is what it would authenticate by (RFC 9101 section 10.8).
        guard members["request"] == nil, members["request_uri"] == nil,
            members["client_id"] == .string(clientID), members["sub"] != .string(clientID)
        else {
            throw AuthorizationFault(
                .invalidRequestObject, "The request object says what it must not say.")
        }
        guard let parameters = AuthorizationParameters(claims: members) else {
            throw AuthorizationFault(
                .invalidRequestObject, "A member of the request object has another type.")
        }
        return parameters
    }

    /// That which the client has chosen, where it has (OpenID Connect Registration section 2).
    private var algorithms: Set<Algorithm> {
        let all = ClientKeys.algorithms
        guard let chosen = metadata.requestSignature else { return Set(all) }
        return Set(all.filter { $0.rawValue == chosen })
    }

    private func claims(of text: String) async -> Claims? {
        guard let source = KeySource(metadata.jwks, metadata.jwksURI),
            let verified = try? await context.remoteKeys.check(
                source,
                { keys throws(TokenRejection) in
                    try JWS.verify(
                        text, by: keys,
                        rules: JWS.Rules(
                            algorithms: algorithms, types: Self.types))
                })
        else { return nil }
        return try? Claims(payload: verified.payload)
    }

    private func isForUs(_ claims: Claims) -> Bool {
        let now = context.clock.now()
        // Whose it is says its `client_id` already, which it has to have.
        let rules = ClaimRules(
            issuer: clientID, mayLackIssuer: true, audience: .includes(context.place.issuer),
            longestLifetime: Self.longestLifetime)
        guard (try? rules.check(claims, at: now)) != nil else { return false }
        // What was signed long ago may have been taken meanwhile.
        guard let notBefore = claims.notBefore else { return true }
        return notBefore >= now.adding(seconds: -Self.longestLifetime)
    }
}
