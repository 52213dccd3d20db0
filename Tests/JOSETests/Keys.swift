import Cryptography
import JSON
import Values

@testable import JOSE

/// Keys that are made once for all tests, and what tests of tokens need of every one of them.
enum Keys {
    struct None: Error {}

    static let made = Result {
        try (es256: SigningKey.generate(.es256), rs256: SigningKey.generate(.rs256))
    }

    static func es256() throws -> SigningKey { try made.get().es256 }
    static func rs256() throws -> SigningKey { try made.get().rs256 }

    static func key(_ algorithm: SigningAlgorithm) throws -> SigningKey {
        switch algorithm {
        case .es256: try es256()
        case .rs256: try rs256()
        }
    }

    static func both() throws -> KeySet {
        try KeySet([es256().verificationKey, rs256().verificationKey])
    }
}

/// Signs whatever header and payload a test thinks of, with no rule between.
func signedRaw(_ header: String, _ payload: String, by key: SigningKey) throws -> String {
    let input = "\(base64URL(header)).\(base64URL(payload))"
    return "\(input).\(Base64URL.encode(try key.sign(Array(input.utf8))))"
}

func base64URL(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }

/// As strictly as can be, but for the algorithm and the type.
func verify(
    _ text: String, rules: JWS.Rules = anything, keys: KeySet? = nil
) throws -> JWS.Verified {
    try JWS.verify(text, by: keys ?? Keys.both(), rules: rules)
}

/// The three parts of a token.
func parts(_ token: String) -> [String] {
    token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
}

let now = Timestamp(seconds: 1_800_000_000)
let anything = JWS.Rules(
    algorithms: Set(Algorithm.allCases), types: TokenTypes(["JWT"], mayBeAbsent: true))

extension AccessToken {
    static func sample(_ change: (inout AccessToken) -> Void = { _ in }) -> AccessToken {
        var token = AccessToken(
            issuer: "https://id.example", subject: "018f", audience: ["https://api.example"],
            clientID: "app", id: "t1", issuedAt: now, expiresAt: now.adding(seconds: 900),
            scope: ["openid", "offline_access"], authenticatedAt: now.adding(seconds: -5),
            authenticationContext: "urn:example:mfa", authenticationMethods: ["otp", "hwk"],
            additional: ["sid": "s1"])
        change(&token)
        return token
    }

    static let rules = ClaimRules(
        issuer: "https://id.example", audience: .includes("https://api.example"))
}

extension ClientAssertion {
    static let rules = Rules(audiences: ["https://id.example", "https://id.example/token"])

    static func sample(_ change: (inout ClientAssertion) -> Void = { _ in }) -> ClientAssertion {
        var assertion = ClientAssertion(
            clientID: "app", audience: "https://id.example", id: "j1", issuedAt: now,
            expiresAt: now.adding(seconds: 60))
        change(&assertion)
        return assertion
    }

    /// What stands in the claims of a test, checked as the assertion of `app`.
    static func check(
        claims: String, header: String = #"{"alg":"ES256"}"#, rules: Rules = rules
    ) throws -> ClientAssertion {
        let key = try Keys.es256()
        return try check(
            signedRaw(header, claims, by: key), of: "app", keys: KeySet([key.verificationKey]),
            algorithms: [.es256], rules: rules, at: now)
    }
}
