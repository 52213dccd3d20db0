import Cryptography
import JOSE
import JSON
import OneTimeCodes
import QRCode
import Values

/// One line of the input.
struct Request {
    /// What the caller got wrong, as opposed to what the modules refuse.
    enum Misuse: Error {
        case missing(String)
        case unknown(String)
    }

    private let members: JSON

    init(_ members: JSON) { self.members = members }

    func answer() throws -> JSON {
        let what = try text("do")
        switch what {
        case "generate": return try generate()
        case "thumbprint": return try .string(VerificationKey(jwk: value("jwk")).thumbprint)
        case "jwks": return try KeySet(jwks: value("jwks")).document
        case "access_token": return try .string(accessToken().signed(by: key()))
        case "id_token": return try .string(idToken().signed(by: key()))
        case "client_assertion": return try .string(clientAssertion().signed(by: key()))
        case "check_access_token": return try checkAccessToken()
        case "check_id_token": return try checkIDToken()
        case "check_client_assertion": return try checkClientAssertion()
        case "generate_decryption_key": return try generateDecryptionKey()
        case "encrypt": return try .string(encrypt())
        case "decrypt": return try decrypt()
        case "qr": return try qr()
        case "enrol": return try enrol()
        case "totp": return try totp()
        default: throw Misuse.unknown(what)
        }
    }

    // MARK: - Keys

    private func generate() throws -> JSON {
        let key = try SigningKey.generate(signingAlgorithm(), id: members["kid"]?.string)
        return [
            "pkcs8": .string(Base64.encode(try key.pkcs8().exposedCopy())),
            "jwks": KeySet([key.verificationKey]).document, "kid": .string(key.id),
        ]
    }

    private func key() throws -> SigningKey {
        guard let pkcs8 = Base64.decode(try text("pkcs8")) else { throw Misuse.missing("pkcs8") }
        return try SigningKey(
            pkcs8: SecretBytes(pkcs8), algorithm: signingAlgorithm(), id: members["kid"]?.string)
    }

    private func signingAlgorithm() throws -> SigningAlgorithm {
        let name = try text("algorithm")
        guard let algorithm = SigningAlgorithm(rawValue: name) else { throw Misuse.unknown(name) }
        return algorithm
    }

    // MARK: - Tokens

    private func accessToken() throws -> AccessToken {
        AccessToken(
            issuer: try text("iss"), subject: try text("sub"), audience: [try text("aud")],
            clientID: try text("client_id"), id: try text("jti"), issuedAt: try now(),
            expiresAt: try now().adding(seconds: 300), scope: ["openid", "é"],
            authenticatedAt: try now(), authenticationContext: "urn:example:mfa",
            authenticationMethods: ["otp", "hwk"], additional: ["ümlaut": ["x": [1, .null]]])
    }

    private func idToken() throws -> IDToken {
        IDToken(
            issuer: try text("iss"), subject: try text("sub"), clientID: try text("client_id"),
            issuedAt: try now(), expiresAt: try now().adding(seconds: 300),
            nonce: try text("nonce"), accessToken: try text("access_token"),
            additional: ["email": "ann@example.org"])
    }

    private func clientAssertion() throws -> ClientAssertion {
        ClientAssertion(
            clientID: try text("client_id"), audience: try text("aud"), id: try text("jti"),
            issuedAt: try now(), expiresAt: try now().adding(seconds: 60))
    }

    private func checkAccessToken() throws -> JSON {
        let rules = ClaimRules(issuer: try text("iss"), audience: .includes(try text("aud")))
        let token = try AccessToken.check(
            text("token"), keys: keys(), rules: rules, at: now(), algorithms: algorithms())
        return [
            "sub": .string(token.subject), "client_id": .string(token.clientID),
            "scope": .array(token.scope.map { .string($0) }), "jti": .string(token.id),
        ]
    }

    private func checkIDToken() throws -> JSON {
        let token = try IDToken.check(
            text("token"), keys: keys(), issuer: text("iss"), clientID: text("client_id"),
            nonce: members["nonce"]?.string, accessToken: members["access_token"]?.string,
            at: now(), algorithms: algorithms())
        return ["sub": .string(token.subject)]
    }

    private func checkClientAssertion() throws -> JSON {
        let token = try ClientAssertion.check(
            text("token"), of: text("client_id"), keys: keys(), algorithms: algorithms(),
            rules: ClientAssertion.Rules(audiences: [try text("aud")]), at: now())
        return ["jti": .string(token.id), "exp": .integer(token.expiresAt.seconds)]
    }

    private func keys() throws -> KeySet { try KeySet(jwks: value("jwks")) }

    private func algorithms() throws -> Set<Algorithm> {
        Set(
            try value("algorithms").array?.compactMap { Algorithm(rawValue: $0.string ?? "") } ?? []
        )
    }

    // MARK: - Encryption

    private func generateDecryptionKey() throws -> JSON {
        let key = try DecryptionKey.generate(keyManagement())
        return [
            "pkcs8": .string(Base64.encode(try key.pkcs8().exposedCopy())),
            "jwk": key.encryptionKey.jwk, "kid": .string(key.id),
        ]
    }

    private func keyManagement() throws -> JWE.KeyManagement {
        let name = try text("algorithm")
        guard let algorithm = JWE.KeyManagement(rawValue: name) else { throw Misuse.unknown(name) }
        return algorithm
    }

    private func encrypt() throws -> String {
        try JWE.encrypt(token: text("text"), to: EncryptionKey(jwk: value("jwk")))
    }

    private func decrypt() throws -> JSON {
        guard let pkcs8 = Base64.decode(try text("pkcs8")) else { throw Misuse.missing("pkcs8") }
        let key = try DecryptionKey(
            pkcs8: SecretBytes(pkcs8), algorithm: keyManagement(), id: members["kid"]?.string)
        let opened = try JWE.decrypt(text("token"), by: [key])
        return [
            "text": .string(String(decoding: opened.plaintext, as: UTF8.self)),
            "cty": opened.contentType.map { .string($0) } ?? .null,
        ]
    }

    // MARK: - Codes

    private func qr() throws -> JSON {
        let code = try QRCode(text("text"), correction: correction())
        return [
            "svg": .string(code.svg),
            "png": .string(Base64.encode(code.png(scale: Int(try integer("scale"))))),
        ]
    }

    private func correction() -> QRCode.Correction {
        switch members["correction"]?.string {
        case "low": .low
        case "quartile": .quartile
        case "high": .high
        default: .medium
        }
    }

    private func enrol() throws -> JSON {
        let totp = TOTP.generate()
        let uri = totp.enrolmentURI(issuer: try text("issuer"), account: try text("account"))
        return [
            "uri": .string(uri), "secret": .string(totp.text),
            "png": .string(Base64.encode(try QRCode(uri).png(scale: 4))),
        ]
    }

    private func totp() throws -> JSON {
        guard let secret = Base32.decode(try text("secret")),
            let totp = TOTP(secret: SecretBytes(secret))
        else { throw Misuse.missing("secret") }
        let step = try totp.matchingStep(of: text("code"), atSecond: now().seconds)
        return step.map { .integer($0) } ?? .null
    }

    // MARK: - Members

    private func value(_ name: String) throws -> JSON {
        guard let value = members[name] else { throw Misuse.missing(name) }
        return value
    }

    private func text(_ name: String) throws -> String {
        guard let text = try value(name).string else { throw Misuse.missing(name) }
        return text
    }

    private func integer(_ name: String) throws -> Int64 {
        guard let integer = try value(name).integer else { throw Misuse.missing(name) }
        return integer
    }

    private func now() throws -> Timestamp { Timestamp(seconds: try integer("now")) }
}
