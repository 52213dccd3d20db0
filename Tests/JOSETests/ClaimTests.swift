import JSON
import Testing
import Values

@testable import JOSE

@Suite struct `The claims of a token` {
    static let seconds = now.seconds

    /// A client assertion with these members instead of, or beside, those that are right.
    private func check(
        _ changes: [String: String?], rules: ClientAssertion.Rules = ClientAssertion.rules
    ) throws -> ClientAssertion {
        var members: [String: String?] = [
            "iss": #""app""#, "sub": #""app""#, "aud": #""https://id.example""#, "jti": #""j1""#,
            "iat": "\(Self.seconds)", "exp": "\(Self.seconds + 60)",
        ]
        members.merge(changes) { $1 }
        let text = members.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
        return try ClientAssertion.check(
            claims: "{\(text.joined(separator: ","))}", rules: rules)
    }

    @Test func `a token's claims are accepted when they are right`() throws {
        #expect(try check([:]).id == "j1")
        #expect(try check(["iat": nil]).issuedAt == nil)
        #expect(try check(["aud": #"["https://id.example/token"]"#]).id == "j1")
        #expect(try check(["nbf": "\(Self.seconds)", "x": #"{"y":[1,null]}"#]).id == "j1")
    }

    @Test(arguments: [
        ("exp", ClaimName.expiresAt), ("jti", .id), ("iss", .issuer), ("sub", .subject),
        ("aud", .audience),
    ])
    func `a token's claims are refused when one is missing`(name: String, claim: ClaimName) throws {
        #expect(throws: TokenRejection.missing(claim)) { try check([name: nil]) }
        #expect(throws: TokenRejection.malformedClaim(claim)) { try check([name: "null"]) }
    }

    @Test(arguments: [
        ("exp", #""1800000060""#, ClaimName.expiresAt), ("exp", "true", .expiresAt),
        ("exp", "[1800000060]", .expiresAt), ("iat", #""now""#, .issuedAt),
        ("nbf", "{}", .notBefore),
        ("iss", "1", .issuer), ("iss", #"["app"]"#, .issuer), ("sub", #""""#, .subject),
        ("aud", "1", .audience), ("aud", "[]", .audience),
        ("aud", #"["https://id.example",1]"#, .audience),
        ("aud", #"{"https://id.example":1}"#, .audience), ("aud", #""""#, .audience),
        ("jti", "7", .id), ("jti", #""""#, .id),
        ("jti", #""\#(String(repeating: "j", count: 257))""#, .id),
    ])
    func `a token's claims are refused in another type`(
        name: String, value: String, claim: ClaimName
    ) throws {
        #expect(throws: TokenRejection.malformedClaim(claim)) { try check([name: value]) }
    }

    @Test(arguments: [
        #""https://other.example""#, #""https://id.example/""#, #""HTTPS://ID.EXAMPLE""#,
        #"["https://id.example","https://other.example"]"#,
        #"["https://id.example","https://id.example"]"#, #"["https://other.example"]"#,
        #""https://id.example ""#,
    ])
    func `a token's claims are refused for another audience, or for an additional one`(
        audience: String
    ) throws {
        #expect(throws: TokenRejection.wrongAudience) { try check(["aud": audience]) }
    }

    @Test func `a token's claims are refused of another client`() throws {
        #expect(throws: TokenRejection.wrongSubject) { try check(["sub": #""other""#]) }
        #expect(throws: TokenRejection.wrongIssuer) { try check(["iss": #""other""#]) }
        #expect(throws: TokenRejection.wrongSubject) {
            try check(["iss": #""other""#, "sub": #""other""#])
        }
    }

    @Test func `a token's claims are refused before and after their time, within the leeway`()
        throws
    {
        let leeway = ClientAssertion.rules.leeway
        let s = Self.seconds
        #expect(throws: Never.self) { try check(["exp": "\(s - leeway + 1)", "iat": nil]) }
        #expect(throws: TokenRejection.expired) { try check(["exp": "\(s - leeway)", "iat": nil]) }
        #expect(throws: TokenRejection.expired) { try check(["exp": "0", "iat": nil]) }
        #expect(throws: TokenRejection.expired) { try check(["exp": "-1", "iat": nil]) }
        #expect(throws: Never.self) { try check(["nbf": "\(s + leeway)"]) }
        #expect(throws: TokenRejection.notYetValid) { try check(["nbf": "\(s + leeway + 1)"]) }
        #expect(throws: Never.self) { try check(["iat": "\(s + leeway)"]) }
        #expect(throws: TokenRejection.issuedInTheFuture) {
            try check(["iat": "\(s + leeway + 1)"])
        }
        #expect(throws: TokenRejection.unreasonableLifetime) {
            try check(["iat": "\(s + 20)", "exp": "\(s + 10)"])
        }
        #expect(throws: Never.self) { try check(["exp": "\(s + 3600)"]) }
        #expect(throws: TokenRejection.unreasonableLifetime) { try check(["exp": "\(s + 3601)"]) }
        // An `iat` of long ago does not buy time, and leaving it out buys the leeway only.
        #expect(throws: TokenRejection.unreasonableLifetime) {
            try check(["iat": "\(s - 1000)", "exp": "\(s + 3000)"])
        }
        #expect(throws: TokenRejection.unreasonableLifetime) {
            try check(["iat": nil, "exp": "\(s + 3600 + leeway + 1)"])
        }
        // Nor does a leeway that somebody misconfigured.
        var rules = ClientAssertion.rules
        rules.leeway = .max
        #expect(throws: TokenRejection.expired) {
            try check(["exp": "\(s - 300)", "iat": nil], rules: rules)
        }
        rules.leeway = .min
        #expect(throws: TokenRejection.expired) { try check(["exp": "\(s)"], rules: rules) }
        rules.longestLifetime = .max
        #expect(throws: Never.self) { try check(["exp": "9007199254740991"], rules: rules) }
    }

    @Test(arguments: [
        ("1800000060.5", Int64(1_800_000_060)), ("1800000060.999999999999", 1_800_000_060),
        ("1.80000006e9", 1_800_000_060), ("1.80000006E+9", 1_800_000_060),
        ("18000000600e-1", 1_800_000_060), ("1800000060.0", 1_800_000_060),
        ("180000006e1", 1_800_000_060), ("1800000060e0", 1_800_000_060),
        ("1.8000000600000000000000000000e9", 1_800_000_060),
    ])
    func `a token's instants may have fractions`(text: String, value: Int64) throws {
        let assertion = try check(["exp": text, "iat": "\(Self.seconds).25", "nbf": " 1.5e9 "])
        #expect(assertion.expiresAt == Timestamp(seconds: value))
        #expect(assertion.issuedAt == now)
    }

    @Test(arguments: [
        "1e400", "1e999", "1e9999", "1e99999999999999999999", "1.", ".5", "1e", "1e+", "1.e5",
        "01.5",
        "1.5.5", "1e5e5", "--1.5", "+1.5", "1.5-", "NaN", "Infinity", "0x1p3", "1e17",
        "9007199254740992.5", "-", "1,5", "1_0.5", "١.٥",
    ])
    func `a token's instants are numbers of JSON that time has`(text: String) throws {
        #expect(throws: TokenRejection.malformed) { try check(["exp": text]) }
    }

    @Test(arguments: ["-0.5", "0.9", "1e-5", "0e999", "-1.9e0", "1e-999"])
    func `a token's instants around zero are long past`(text: String) throws {
        #expect(throws: TokenRejection.expired) { try check(["exp": text, "iat": nil]) }
    }

    /// What is rewritten for reading must not make valid what was not, nor change anything else.
    @Test(arguments: [
        #"{"exp":1.5,"exp":2}"#, #"{"exp":1.5,"exp":1.5}"#,
        #"["exp",1.5]"#, #"{"exp" 1.5}"#, #"{"exp":-1.5x}"#, #"{"exp"::1.5}"#, "1.5", "1.5e5",
        #"{"x":1.5.5}"#, #"{"x":1.}"#, #"{"x":01.5}"#, #"{"x":-.5}"#, #"{"x":1e}"#, #"{1.5:1}"#,
        #"{"x":1.5,"x":"1.5"}"#,
    ])
    func `a token with what is no JSON around fractions is refused`(payload: String) {
        #expect(throws: TokenRejection.malformed) { try Claims(payload: Array(payload.utf8)) }
    }

    /// A claim that means nothing here spoils no token, and a fraction is never a time's whole seconds where the
    /// name is another one.
    @Test(
        arguments: [
            (#"{"exp":1.5,"iat":1.5,"nbf":1.5,"x":1.5}"#, "x", "1.5"),
            (#"{"x":-1.5e-3}"#, "x", "-1.5e-3"),
            (#"{"x\"exp":1.5}"#, "x\"exp", "1.5"), (#"{"x":[1.5]}"#, "x", ["1.5"]),
            (#"{"x":{"y":[0.1,2,0.3]}}"#, "x", ["y": ["0.1", 2, "0.3"]]),
            (#"{"x":1e400}"#, "x", "1e400"),
        ] as [(String, String, JSON)])
    func `a token's other fractions are read as texts`(
        payload: String, name: String, value: JSON
    ) throws {
        #expect(try Claims(payload: Array(payload.utf8)).members[name] == value)
    }

    @Test func `a token with very many fractions is refused`() {
        for (count, isRead) in [(32, true), (33, false)] {
            let payload = "{\"x\":[\((0..<count).map { _ in "0.5" }.joined(separator: ","))]}"
            #expect(((try? Claims(payload: Array(payload.utf8))) != nil) == isRead)
        }
    }

    @Test func `a token's fractional instants are read, and strings that look like them kept`()
        throws
    {
        let payload =
            #"{"exp" : 1.5 ,"iat":2.5,"nbf":-3.5,"auth_time":4.5e0,"updated_at":5.5,"x":"\"exp\":1.5"}"#
        let claims = try Claims(payload: Array(payload.utf8))
        #expect(claims.expiresAt == Timestamp(seconds: 1))
        #expect(claims.issuedAt == Timestamp(seconds: 2))
        #expect(claims.notBefore == Timestamp(seconds: -3))
        #expect(try claims.instant(.authenticatedAt) == Timestamp(seconds: 4))
        #expect(claims.members["updated_at"] == 5)
        #expect(claims.members["x"] == #""exp":1.5"#)
    }

    @Test(arguments: [
        "issuer", "subject", "audience", "clientID", "id", "issuedAt", "expiresAt",
    ])
    func `an access token's claims are all demanded`(name: String) throws {
        let names: [String: ClaimName] = [
            "issuer": .issuer, "subject": .subject, "audience": .audience, "clientID": .clientID,
            "id": .id, "issuedAt": .issuedAt, "expiresAt": .expiresAt,
        ]
        let claim = try #require(names[name])
        let key = try Keys.es256()
        let whole = try AccessToken.sample().signed(by: key)
        let payload = try #require(Base64URL.decode(parts(whole)[1]))
        guard case .object(var members) = try JSON.parse(payload) else { throw Keys.None() }
        members[claim.rawValue] = nil
        let text = try JWS.sign(JSON.object(members).canonical(), by: key, type: "at+jwt")
        #expect(throws: TokenRejection.missing(claim)) {
            try AccessToken.check(text, keys: Keys.both(), rules: AccessToken.rules, at: now)
        }
    }

    @Test func `an access token's claims are checked against issuer, audience and clock`() throws {
        func check(
            _ rules: ClaimRules = AccessToken.rules, at instant: Timestamp = now,
            _ change: (inout AccessToken) -> Void = { _ in }
        ) throws {
            _ = try AccessToken.check(
                AccessToken.sample(change).signed(by: Keys.es256()), keys: Keys.both(),
                rules: rules, at: instant)
        }
        #expect(throws: Never.self) { try check { $0.audience = ["x", "https://api.example"] } }
        #expect(throws: TokenRejection.wrongAudience) { try check { $0.audience = ["x"] } }
        #expect(throws: TokenRejection.wrongAudience) { try check { $0.audience = ["app"] } }
        #expect(throws: TokenRejection.malformedClaim(.audience)) { try check { $0.audience = [] } }
        #expect(throws: TokenRejection.wrongIssuer) {
            try check { $0.issuer = "https://id.example/" }
        }
        #expect(throws: TokenRejection.expired) { try check(at: now.adding(seconds: 930)) }
        #expect(throws: TokenRejection.issuedInTheFuture) {
            try check(at: now.adding(seconds: -31))
        }
    }
}
