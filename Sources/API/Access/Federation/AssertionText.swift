internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// An assertion as a text: signed by the service's own key or by one of the realm's, and encrypted where the service
/// wants that.
struct AssertionText {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    func make(
        of person: FederatedPerson, id: String, azp party: String, for service: FederationService,
        issuedAt now: Timestamp, lifetime: Int64
    ) async throws(Problem) -> String {
        var claims: JSONObject = [
            "iss": .string(context.place.issuer),
            "aud": .string(context.place.endpoint(of: service)), "jti": .string(id),
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + lifetime),
            "sub": .string(person.subject), "azp": .string(party),
        ]
        claims.merge(person.attributes(for: service)) { own, _ in own }
        return try sealed(try await signed(claims, for: service), for: service)
    }

    private func signed(
        _ claims: JSONObject, for service: FederationService
    ) async throws(Problem) -> String {
        let payload = JSON.object(claims).canonical()
        switch service.client.metadata.assertionSignature {
        case .hs256:
            guard let key = try await context.sharedKey(of: service.client) else {
                throw Problem(.internalError, "The service has no key: give it another secret.")
            }
            let header: JSON = [
                "alg": "HS256", "kid": .string(service.clientID),
                "typ": .string(JWTType.federationAssertion.rawValue),
            ]
            let input = Base64URL.encode(header.canonical()) + "." + Base64URL.encode(payload)
            let tag = HMACKey(Array(key.text.utf8)).authenticate(Array(input.utf8))
            return input + "." + Base64URL.encode(tag)
        case .rs256: return try await signed(payload, by: .rs256)
        case .es256: return try await signed(payload, by: .es256)
        }
    }

    private func signed(
        _ payload: [UInt8], by signature: TokenSignature
    ) async throws(Problem) -> String {
        try await Tokens(context).signed(by: signature) { key in
            try JWS.sign(payload, by: key, type: JWTType.federationAssertion.rawValue)
        }
    }

    /// Encrypted to a key of the service's, where its registration says so.
    private func sealed(
        _ text: String, for service: FederationService
    ) throws(Problem) -> String {
        let metadata = service.client.metadata
        let algorithm: JWE.KeyManagement
        switch metadata.assertionEncryption {
        case .none: return text
        case .rsaOAEP256: algorithm = .rsaOAEP256
        case .ecdhES: algorithm = .ecdhES
        }
        // Nothing readable goes out in its place.
        guard let keys = metadata.jwks,
            let key = EncryptionKey.first(in: keys, for: [algorithm]),
            text.utf8.count <= JWE.longestPlaintext
        else {
            throw Problem(
                .notImplemented,
                "The service wants its assertions encrypted, and its jwks has no key for that.")
        }
        do {
            return try JWE.encrypt(token: text, to: key)
        } catch {
            throw Problem(.internalError, "The assertion could not be encrypted.")
        }
    }

    // MARK: - Reading

    /// The `jti` of an assertion for a service that was signed here: by the service's key or by the realm's.
    func read(
        _ text: String, for service: FederationService
    ) async throws(Problem) -> String? {
        guard let claims = try await claims(of: text, for: service),
            claims["iss"]?.string == context.place.issuer,
            claims["aud"]?.string == context.place.endpoint(of: service),
            let end = claims["exp"]?.integer, context.clock.now().seconds < end,
            let id = claims["jti"]?.string, id.utf8.count == TokenMint.keyIDLength
        else { return nil }
        return id
    }

    private func claims(
        of text: String, for service: FederationService
    ) async throws(Problem) -> JSONObject? {
        if service.client.metadata.assertionSignature == .hs256 {
            guard let token = SharedKeyToken(text, types: SharedKeyToken.assertion),
                token.keyID == service.clientID,
                let key = try await context.sharedKey(of: service.client),
                token.isSigned(by: key.text)
            else { return nil }
            return token.members
        }
        let keys = try await reading { () throws(LogFailure) in
            try await context.keys.keys(of: context.place.realm)
        }
        let rules = JWS.Rules(types: TokenTypes([JWTType.federationAssertion.rawValue]))
        guard let verified = try? JWS.verify(text, by: keys.set, rules: rules) else { return nil }
        return (try? JSON.parse(verified.payload))?.object
    }
}
