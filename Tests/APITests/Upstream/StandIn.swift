import Cryptography
import HTTP
import Identity
import JOSE
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// An OpenID provider that answers as real ones do, with a key of its own.
final class StandIn: Sendable {
    static let issuer = "https://login.example.org"
    static let usual = StandIn()

    struct Login: Sendable {
        var subject = "248289761001"
        var session: String?
        var nonce: String
        var challenge: String
        var redirect: String
        var claims: JSONObject = [:]
    }

    let issuer: String
    let key: SigningKey?
    /// What it publishes beside what all publish.
    let more: Mutex<JSONObject>
    let clock = Mutex<Clock?>(nil)
    let asked = Mutex<[String]>([])
    /// Puts another ID token in the place of the right one.
    let forged = Mutex<String?>(nil)
    private let logins = Mutex<[String: Login]>([:])

    init(_ issuer: String = issuer, _ more: JSONObject = [:]) {
        self.issuer = issuer
        key = try? SigningKey.pooled(.es256)
        self.more = Mutex(more)
    }

    var calls: UpstreamCalls {
        UpstreamCalls(
            get: { address, bearer in self.get(address, bearer) },
            post: { address, form, authorization in self.post(address, form, authorization) })
    }

    func get(_ address: String, _ bearer: String?) -> [UInt8]? {
        asked.withLock { $0.append(address) }
        switch address {
        case "\(issuer)/.well-known/openid-configuration":
            let usual: JSONObject = [
                "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
                "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string("\(issuer)/keys"),
                "userinfo_endpoint": .string("\(issuer)/userinfo"),
                "end_session_endpoint": .string("\(issuer)/logout"),
            ]
            return JSON.object(usual.merging(more.withLock { $0 }) { $1 }).canonical()
        case "\(issuer)/keys":
            return key.map { KeySet([$0.verificationKey]).document.canonical() }
        case "\(issuer)/userinfo":
            guard let bearer, bearer != "bad" else { return nil }
            return JSON.object(["sub": "248289761001", "email": "eve@acme.example"]).canonical()
        default: return nil
        }
    }

    func post(_ address: String, _ form: [UInt8], _ authorization: String?) -> [UInt8]? {
        asked.withLock { $0.append(address) }
        let pairs = Form.parse(form) ?? []
        func value(_ name: String) -> String { pairs.first { $0.name == name }?.value ?? "" }
        let challenge = Base64URL.encode(SHA256.hash(Array(value("code_verifier").utf8)))
        // Once, by the client that it is for, who shows that it began.
        guard address == "\(issuer)/token", authorization == "Basic \(Self.basic)",
            let login = logins.withLock({ $0.removeValue(forKey: value("code")) }),
            login.challenge == challenge, login.redirect == value("redirect_uri")
        else { return nil }
        var claims = login.claims
        claims["nonce"] = claims["nonce"] ?? .string(login.nonce)
        if claims["nonce"] == .null { claims["nonce"] = nil }
        claims["sid"] = login.session.map { .string($0) }
        let token = forged.withLock { $0 } ?? idToken(login.subject, claims)
        return JSON.object(["id_token": .string(token), "access_token": "x"]).canonical()
    }

    private static let basic = Base64.encode(Array("urd:a%20secret%20there".utf8))

    func idToken(
        _ subject: String = "248289761001", _ more: JSONObject = [:],
        by other: SigningKey? = nil,
        type: String = "JWT"
    ) -> String {
        let now = clock.withLock { $0?.next().seconds } ?? 0
        let claims: JSONObject = [
            "iss": .string(issuer), "aud": "urd", "sub": .string(subject), "iat": .integer(now),
            "exp": .integer(now + 300),
        ]
        guard let key = other ?? key else { return "" }
        let merged = claims.merging(more) { $1 }.filter { !$0.value.isNull }
        return (try? JWS.sign(JSON.object(merged).canonical(), by: key, type: type)) ?? ""
    }

    func logoutToken(_ more: JSONObject, by other: SigningKey? = nil) -> String {
        idToken(
            "248289761001",
            ([
                "events": [
                    "http://schemas.openid.net/event/backchannel-logout": [:]
                ], "jti": .string(UUID.random().description),
            ] as JSONObject).merging(more) { $1 }, by: other, type: "logout+jwt")
    }

    /// Signs somebody in for who was sent here: the query that he is sent back with.
    func answer(
        _ place: String, as subject: String = "248289761001", session: String? = nil,
        _ claims: JSONObject = [:]
    ) throws -> [Form.Pair] {
        let query = try #require(place.split(separator: "?", maxSplits: 1).last)
        let pairs = try #require(Form.parse(Array(query.utf8)))
        func value(_ name: String) -> String { pairs.first { $0.name == name }?.value ?? "" }
        #expect(place.hasPrefix("\(issuer)/authorize?"))
        #expect(value("code_challenge_method") == "S256" && value("response_type") == "code")
        #expect(value("client_id") == "urd" && value("scope").hasPrefix("openid"))
        let code = UUID.random().description
        logins.withLock {
            $0[code] = Login(
                subject: subject, session: session, nonce: value("nonce"),
                challenge: value("code_challenge"), redirect: value("redirect_uri"),
                claims: claims)
        }
        return [("code", code), ("state", value("state"))]
    }
}

extension Provider {
    static func standIn(
        _ slug: String = "corporate", _ issuer: String = StandIn.issuer, tokens: Bool = false
    ) -> Provider {
        Provider(
            slug: slug, name: "Corporate", issuer: issuer, clientID: "urd",
            secret: "a secret there", scope: ["email"], takesAccessTokens: tokens)
    }
}

extension SignInWorld {
    /// Links an account to somebody at a provider, as an administrator does.
    func link(
        _ account: UUID, _ subject: String = "248289761001", at provider: Provider = .standIn()
    ) async throws {
        try await carryOut(
            LinkIdentity(
                identity: mint.identity(subject, at: provider.issuer),
                place: mint.accountIdentity(account, at: provider.slug), account: account,
                provider: provider.slug, subject: subject, mail: UUID.random()))
    }
}
