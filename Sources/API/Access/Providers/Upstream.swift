internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Synchronization
internal import Values

/// How providers are called. The caller that supplies these makes sure that no address of our own
/// network is called (SSRF).
public struct UpstreamCalls: Sendable {
    /// The document at an address, with a token if need be; nil where there is none to be had.
    public typealias Get = @Sendable (_ address: String, _ bearer: String?) async -> [UInt8]?
    /// What a form is answered with 200; nil for all else.
    public typealias Post =
        @Sendable (_ address: String, _ form: [UInt8], _ authorization: String?) async -> [UInt8]?

    let get: Get
    let post: Post

    public init(get: @escaping Get, post: @escaping Post) {
        self.get = get
        self.post = post
    }

    public static let none = UpstreamCalls(get: { _, _ in nil }, post: { _, _, _ in nil })
}

/// What a provider publishes of itself (OpenID Connect Discovery 1.0).
struct ProviderMetadata: Sendable, Equatable {
    let authorization: String
    let token: String
    let keys: String
    let userInfo: String?
    let endSession: String?
    let methods: [String]
    /// It says with each answer whose it is (RFC 9207).
    let namesItself: Bool

    /// Nil for what is not the document of this issuer, byte for byte, or leads elsewhere than over TLS.
    init?(_ document: JSON, of issuer: String) {
        func address(_ name: String) -> String? {
            document[name]?.string.flatMap { text in
                guard text.utf8.count <= 2_000, let parts = URLParts.parse(text),
                    parts.scheme == "https", !parts.hasUserInfo, !text.utf8.contains(0x23)
                else { return nil }
                return text
            }
        }
        guard let named = document["issuer"]?.string, named.utf8.elementsEqual(issuer.utf8),
            let authorization = address("authorization_endpoint"),
            let token = address("token_endpoint"), let keys = address("jwks_uri")
        else { return nil }
        self.authorization = authorization
        self.token = token
        self.keys = keys
        userInfo = address("userinfo_endpoint")
        endSession = address("end_session_endpoint")
        methods =
            document["token_endpoint_auth_methods_supported"]?.array?.compactMap(\.string)
            ?? ["client_secret_basic"]
        namesItself =
            document["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}

/// The user as a provider identifies them.
struct UpstreamPerson: Sendable, Equatable {
    let subject: String
    /// The provider's id for the user's session there.
    let session: String?
    /// When the provider signed it, where it signed anything.
    var issuedAt: Timestamp?
    /// The provider's claims about the user, for clients that asked for them.
    let claims: JSONObject
}

/// Speaks with OpenID providers, as their client.
public final class Upstream: Sendable {
    private struct Entry: Sendable {
        let metadata: ProviderMetadata
        let fetchedAt: Duration
    }

    static let shelfLife = Duration.seconds(600)
    static let algorithms: Set<Algorithm> = [.es256, .rs256, .ps256, .es384, .edDSA, .ed25519]

    private let calls: UpstreamCalls
    private let keys: RemoteKeys
    private let passed: @Sendable () -> Duration
    private let known = Mutex(LeastRecent<String, Entry>(capacity: 256))

    public init(
        calls: UpstreamCalls = .none, passed: @escaping @Sendable () -> Duration = { .zero }
    ) {
        self.calls = calls
        self.passed = passed
        let get = calls.get
        keys = RemoteKeys(passed: passed) { address in await get(address, nil) }
    }

    /// Whether a service that tells people from programs says that a person solved its task (`siteverify`).
    /// It is not told the person's address: that is for us alone.
    func verifies(_ response: String, _ secret: String, at address: String) async -> Bool {
        let form: [Form.Pair] = [("secret", secret), ("response", response)]
        let answer = await calls.post(address, Array(Form.encode(form).utf8), nil)
        return answer.flatMap { try? JSON.parse($0, limits: .foreign) }?["success"] == true
    }

    /// What is published under the issuer's name; kept for a while.
    func metadata(of issuer: String) async -> ProviderMetadata? {
        let now = passed()
        let entry = known.withLock { $0.value(of: issuer) }
        if let entry, now - entry.fetchedAt < Self.shelfLife { return entry.metadata }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        guard
            let bytes = await calls.get("\(base)/.well-known/openid-configuration", nil),
            let document = try? JSON.parse(bytes, limits: .foreign),
            let metadata = ProviderMetadata(document, of: issuer)
        else { return nil }
        known.withLock { $0.set(Entry(metadata: metadata, fetchedAt: now), for: issuer) }
        return metadata
    }

    /// The ID token that a code is redeemed for. The signature is not verified yet.
    func redeem(
        _ code: String, verifier: String, redirect: String, at provider: Provider,
        _ metadata: ProviderMetadata
    ) async -> String? {
        var form: [Form.Pair] = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ]
        var authorization: String?
        if let secret = provider.secret, metadata.methods.contains("client_secret_basic") {
            // RFC 6749 section 2.3.1: both are written as forms are.
            let pair = "\(Percent.encode(provider.clientID)):\(Percent.encode(secret))"
            authorization = "Basic \(Base64.encode(Array(pair.utf8)))"
        } else {
            form.append(("client_id", provider.clientID))
            if let secret = provider.secret { form.append(("client_secret", secret)) }
        }
        guard
            let bytes = await calls.post(
                metadata.token, Array(Form.encode(form).utf8), authorization),
            let answer = try? JSON.parse(bytes, limits: .foreign)
        else { return nil }
        return answer["id_token"]?.string
    }

    /// Whom an ID token is about, if it is this provider's, for this client, and for this very attempt
    /// where there was one.
    func check(
        _ idToken: String, of provider: Provider, _ metadata: ProviderMetadata, nonce: String?,
        at now: Timestamp
    ) async -> UpstreamPerson? {
        do throws(TokenRejection) {
            let token = try await keys.check(.address(metadata.keys)) {
                keys throws(TokenRejection) in
                try IDToken.check(
                    idToken, keys: keys, issuer: provider.issuer, clientID: provider.clientID,
                    nonce: nonce, at: now, algorithms: Self.algorithms)
            }
            guard token.subject.utf8.count <= 255 else { return nil }
            var claims = token.additional
            claims["sub"] = .string(token.subject)
            return UpstreamPerson(
                subject: token.subject, session: claims["sid"]?.string.flatMap(bounded),
                issuedAt: token.issuedAt, claims: claims)
        } catch {
            return nil
        }
    }

    /// Whom an access token is about, as the provider says when asked.
    func userInfo(_ accessToken: String, _ metadata: ProviderMetadata) async -> UpstreamPerson? {
        guard let address = metadata.userInfo, (1...8_192).contains(accessToken.utf8.count),
            accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let bytes = await calls.get(address, accessToken),
            let claims = try? JSON.parse(bytes, limits: .foreign),
            let subject = claims["sub"]?.string, (1...255).contains(subject.utf8.count)
        else { return nil }
        return UpstreamPerson(
            subject: subject, session: claims["sid"]?.string.flatMap(bounded),
            claims: claims.object ?? [:])
    }

    /// What a provider tells of a session that is over (OpenID Connect Back-Channel Logout 1.0).
    func checkLogout(
        _ token: String, of provider: Provider, _ metadata: ProviderMetadata, at now: Timestamp
    ) async -> LogoutToken? {
        try? await keys.check(.address(metadata.keys)) { keys throws(TokenRejection) in
            try LogoutToken.check(
                token, keys: keys, issuer: provider.issuer, clientID: provider.clientID, at: now,
                algorithms: Self.algorithms)
        }
    }

    /// Ends a session at a provider, as far as it lets one.
    func endSession(_ name: String, at provider: Provider) async {
        guard let address = await metadata(of: provider.issuer)?.endSession else { return }
        let query = Form.encode([
            ("client_id", provider.clientID), ("sid", name), ("logout_hint", name),
        ])
        _ = await calls.get(address + (address.utf8.contains(0x3F) ? "&" : "?") + query, nil)
    }

    private func bounded(_ text: String) -> String? {
        (1...512).contains(text.utf8.count) ? text : nil
    }
}
