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
        return try await sealed(try await signed(claims, for: service), for: service)
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

    /// The place where an assertion is encrypted to the service's key, by the algorithm of its registration. There is
    /// no encryption to others' keys here yet, and a service that wants it gets nothing that can be read on the way.
    private func sealed(
        _ text: String, for service: FederationService
    ) async throws(Problem) -> String {
        switch service.client.metadata.assertionEncryption {
        case .none: return text
        case .rsaOAEP256, .ecdhES:
            throw Problem(
                .notImplemented, "Assertions cannot be encrypted to a service's key here yet.")
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
            guard let token = SharedKeyToken(text), token.keyID == service.clientID,
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
