import Cryptography
import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import SecurityKeysTesting
import Testing
import Values

@testable import API

@Suite struct `Keys and certificates among what is set` {
    private static let settings = "/api/admin/realms/acme/settings"
    private static let clients = "/api/admin/realms/acme/clients"

    /// A private key in every form that people have one in, made anew.
    private struct Private {
        let forms: [String: String]
        let jwk: JSON
        /// What nothing may repeat.
        let traces: [String]

        init() throws {
            // PKCS #8 has the older forms in it, behind 26 and 29 bytes.
            let rsa = try SigningKey.pooled(.rs256).pkcs8().exposedCopy()
            let curve = try SigningKey.pooled(.es256).pkcs8().exposedCopy()
            let encrypted: [UInt8] =
                [0x30, 0x3E, 0x30, 0x0B, 0x06, 0x09] + Random.bytes(9) + [0x04, 0x2F]
                + Random.bytes(47)
            var forms: [String: String] = [:]
            for (name, label, der) in [
                ("PKCS #8", "PRIVATE KEY", rsa), ("PKCS #8 on a curve", "PRIVATE KEY", curve),
                ("encrypted", "ENCRYPTED PRIVATE KEY", encrypted),
                ("PKCS #1", "RSA PRIVATE KEY", Array(rsa.dropFirst(26))),
                ("SEC 1", "EC PRIVATE KEY", Array(curve.dropFirst(29))),
            ] {
                forms[name] = Self.pem(der, label)
                forms["\(name) as a certificate"] = Self.pem(der, "CERTIFICATE")
                forms["\(name) without a label"] = Base64.encode(der)
                forms["\(name) for addresses"] = Base64URL.encode(der)
                forms["\(name) in one line"] = Self.pem(der, label).replacing("\n", with: "\\n")
                forms["\(name) of a format"] = "packed:\(Base64.encode(der))"
            }
            forms["OpenSSH"] = Self.pem(Random.bytes(300), "OPENSSH PRIVATE KEY")
            let certificate = try Self.certificate()
            forms["behind a certificate"] = certificate + Self.pem(rsa, "PRIVATE KEY")
            self.forms = forms
            jwk = [
                "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(Random.bytes(32))),
                "y": .string(Base64URL.encode(Random.bytes(32))),
                "d": .string(Base64URL.encode(Random.bytes(32))),
            ]
            traces = forms.values.map { String($0.dropFirst($0.count / 2).prefix(24)) }
        }

        static func pem(_ der: [UInt8], _ label: String) -> String {
            "-----BEGIN \(label)-----\n\(Base64.encode(der))\n-----END \(label)-----\n"
        }

        static func certificate() throws -> String {
            pem(
                try ES256.PrivateKey.generate().selfSignedAuthority(
                    named: String(repeating: "A root of a test ", count: 3)), "CERTIFICATE")
        }
    }

    private func expectRefused(
        _ answer: Answered, _ world: World, _ what: String, _ traces: [String]
    ) {
        #expect(answer.problem == .invalidField, "\(what): \(answer.json)")
        let said = String(decoding: answer.response.body, as: UTF8.self)
        for text in [said] + world.lines.all {
            #expect(!traces.contains { text.contains($0) }, "\(what) is repeated")
        }
    }

    @Test func `a private key is refused in every setting and form, and nothing repeats it`()
        async throws
    {
        let world = try await World()
        let secret = try Private()
        let before = world.log.revision
        for (form, text) in secret.forms.sorted(by: { $0.key < $1.key }) {
            let values: [String: JSON] = [
                "app_attest_roots": [.string(text)], "safety_net_roots": [.string(text)],
                "passkey_attestation_roots": [.string(text)],
                "assertion_issuers": [
                    "https://idp.example": ["certificates": [.string(text)]]
                ],
                "software_statement_issuers": [
                    "https://idp.example": [
                        "jwks": ["keys": [["kty": "RSA", "x5c": [.string(text)]]]]
                    ]
                ],
                "mail_words": ["EmailOtp": ["en": ["subject": .string(text)]]],
                "display_name": .string(text),
            ]
            for (name, value) in values {
                let answer = try await world.send(
                    .patch, Self.settings, body: [name: value])
                expectRefused(answer, world, "\(form) in \(name)", secret.traces)
                #expect(answer.field?.hasPrefix(name) == true, "\(answer.json)")
            }
            let client = try await world.send(
                .post, Self.clients,
                body: [
                    "client_name": "Keys", "redirect_uris": ["https://a.example/back"],
                    "jwks": [
                        "keys": [["kty": "RSA", "n": "AQAB", "e": "AQAB", "x5c": [.string(text)]]]
                    ],
                ])
            expectRefused(client, world, "\(form) in x5c", secret.traces)
            #expect(client.field == "jwks")
        }
        for name in ["assertion_issuers", "software_statement_issuers"] {
            let answer = try await world.send(
                .patch, Self.settings,
                body: [name: ["https://idp.example": ["jwks": ["keys": [secret.jwk]]]]])
            #expect(answer.problem == .invalidField && answer.field == name)
        }
        #expect(world.log.revision == before, "Nothing is on record.")
    }

    @Test func `a certificate that is none, or a key that verifies nothing, is refused by name`()
        async throws
    {
        let world = try await World()
        let good = try Private.certificate()
        let der: [UInt8] = [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 5, count: 256)
        let hollow = Private.pem(der, "CERTIFICATE")
        for name in ["app_attest_roots", "safety_net_roots", "passkey_attestation_roots"] {
            let answer = try await world.send(
                .patch, Self.settings, body: [name: [.string(good), .string(hollow)]])
            #expect(answer.problem == .invalidField && answer.field == "\(name)/1")
            let taken = try await world.send(.patch, Self.settings, body: [name: [.string(good)]])
            #expect(taken.status == .ok, "\(taken.json)")
        }
        let short = Base64URL.encode([0x80] + Random.bytes(126) + [1])
        let faulty: [JSON] = [
            ["certificates": [.string(hollow)]],
            ["jwks": ["keys": [["kty": "RSA", "n": .string(short), "e": "AQAB"]]]],
            ["jwks": ["keys": [["kty": "EC", "crv": "P-521", "x": "AQAB", "y": "AQAB"]]]],
            // No point of the curve.
            ["jwks": ["keys": [["kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB"]]]],
        ]
        for issuer in faulty {
            let answer = try await world.send(
                .patch, Self.settings, body: ["assertion_issuers": ["https://idp.example": issuer]])
            #expect(answer.problem == .invalidField && answer.field == "assertion_issuers")
        }
        let taken = try await world.send(
            .patch, Self.settings,
            body: ["assertion_issuers": ["https://idp.example": ["certificates": [.string(good)]]]])
        #expect(taken.status == .ok, "\(taken.json)")
    }
}
