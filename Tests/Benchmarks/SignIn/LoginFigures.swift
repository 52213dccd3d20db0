import Cryptography
import JSON
import Synchronization
import Telemetry
import Values

/// Signing in on our pages for a client's site, and by the word of an issuer whom the realm trusts.
enum LoginFigures {
    static let all = [
        SignInFigures.Measured(
            name: "login", summary: "logins on a page by passkey, with code and tokens",
            measure: logins),
        SignInFigures.Measured(
            name: "authorize", summary: "code and tokens for who is signed in",
            measure: authorizations),
        SignInFigures.Measured(
            name: "jwt-bearer", summary: "assertions of a trusted issuer"
        ) { bench in
            let partner = try Partner(bench, signature: "ES256")
            return try await bench.figure(beside: .commits, bar: 0.2) { _ in
                try await partner.redeemed(bench)
            }
        },
        SignInFigures.Measured(
            name: "jwt-bearer-rs256", summary: "the same, with ID tokens signed by RS256",
            isLong: true
        ) { bench in
            let partner = try Partner(bench, signature: "RS256")
            return try await bench.figure(beside: .signatures("rsa2048"), bar: nil) { _ in
                try await partner.redeemed(bench)
            }
        },
    ].map(SignInFigures.entry)

    /// Authorize, the page, a challenge, the passkey's answer, authorize again, and the tokens.
    private static func logins(_ bench: Bench) async throws -> Figure {
        let (site, holders) = try prepared(bench)
        return try await bench.figure(beside: .commits, bar: 0.04) { seconds in
            try await bench.crowd(seconds: seconds) { caller in
                let (browser, line) = (try Browser(site), try Line(port: site.server.port))
                return {
                    browser.forget()
                    try site.redeem(browser.code(for: site, holders[caller]), over: line)
                }
            }.perSecond
        }
    }

    private static func authorizations(_ bench: Bench) async throws -> Figure {
        let (site, holders) = try prepared(bench)
        return try await bench.figure(beside: .commits, bar: 0.08) { seconds in
            try await bench.crowd(seconds: seconds) { caller in
                let (browser, line) = (try Browser(site), try Line(port: site.server.port))
                return { try site.redeem(browser.code(for: site, holders[caller]), over: line) }
            }.perSecond
        }
    }

    private static func prepared(_ bench: Bench) throws -> (Site, [PasskeyHolder]) {
        let mailbox = try Mailbox(bench.server)
        let holders = try (0..<Bench.callers).map {
            try PasskeyHolder("\(bench.name)-\($0)@example.org", mailbox, bench.server)
        }
        return (try Site(bench.server, client: bench.name), holders)
    }
}

/// People whom an issuer speaks for. What is redeemed was signed before: the figure is the server's part.
private final class Partner: Sendable {
    private let issuer: TrustedIssuer
    private let accounts: [String]
    private let each: Int
    private let signed = Atomic<Int>(0)

    init(_ bench: Bench, signature: String) throws {
        issuer = try TrustedIssuer(bench.server, signature: signature)
        let mailbox = try Mailbox(bench.server)
        accounts = try (0..<Bench.callers).map {
            try mailbox.account("\(bench.name)-\($0)@example.org")
        }
        each = bench.workshop.size(short: 250, full: 1_000)
    }

    func redeemed(_ bench: Bench) async throws -> Double {
        let requests = try accounts.map { account in
            try (0..<each).map { _ in
                let number = signed.wrappingAdd(1, ordering: .relaxed).newValue
                return try issuer.request(account, number)
            }
        }
        return try await bench.crowd(upTo: each) { caller in
            let line = try Line(port: bench.server.port)
            return {
                let answer = try line.send(requests[caller][$0])
                guard answer.status == 200 else { throw answer.failure }
            }
        }.perSecond
    }
}

/// Somebody whose word the realm takes for who is there, and a client that brings it.
private struct TrustedIssuer {
    private static let name = "https://partner.example"

    private let server: DevelopmentServer
    private let key: ES256.PrivateKey
    private let head = Base64URL.encode(Array(#"{"alg":"ES256","kid":"1","typ":"JWT"}"#.utf8))

    init(_ server: DevelopmentServer, signature: String) throws {
        self.server = server
        key = try .generate()
        let (x, y) = (Base64URL.encode(key.publicKey.x), Base64URL.encode(key.publicKey.y))
        _ = try server.administer(
            "PATCH", "/settings",
            """
            {"assertion_issuers": {"\(Self.name)": {"jwks": {"keys": [{"kty": "EC",
                "crv": "P-256", "kid": "1", "alg": "ES256", "x": "\(x)", "y": "\(y)"}]}}}}
            """)
        _ = try server.administer(
            "POST", "/clients",
            """
            {"client_id": "partner", "scope": "openid", "token_endpoint_auth_method": "none",
                "id_token_signed_response_alg": "\(signature)",
                "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer"]}
            """)
    }

    func request(_ account: String, _ number: Int) throws -> [UInt8] {
        let now = Log.systemTime().seconds
        let claims = """
            {"iss":"\(Self.name)","aud":"http://localhost:\(server.port)","sub":"\(account)",\
            "jti":"\(number)","iat":\(now),"exp":\(now + 600)}
            """
        let text = "\(head).\(Base64URL.encode(Array(claims.utf8)))"
        let signature = Base64URL.encode(try key.sign(Array(text.utf8)))
        return Requests(host: "localhost:\(server.port)").post(
            "/connect/token",
            "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id=partner"
                + "&scope=openid&assertion=\(text).\(signature)")
    }
}
