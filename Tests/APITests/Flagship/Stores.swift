import Cryptography
import HTTP
import JOSE
import JSON
import Testing
import Values

@testable import SecurityKeysTesting

/// A phone of Apple's, of which one part of what it says may be made wrong.
struct AppleDevice: Sendable {
    let authority: CertificateAuthority
    let key: ES256.PrivateKey
    var app = FlagshipWorld.team
    var counter: UInt32 = 0
    var model = Array("appattest".utf8) + Array(repeating: UInt8(0), count: 7)
    var credentialID: [UInt8]?
    var keyID: [UInt8]?
    var format = "apple-appattest"
    var receipt: [UInt8] = [1]
    var certificate: @Sendable (inout CertificateDraft) throws -> Void = { _ in }
    /// What is hashed in the place of the challenge.
    var hashed: [UInt8]?
    var trailing: [UInt8] = []

    init(_ authority: CertificateAuthority) throws {
        self.authority = authority
        key = try .generate()
    }

    struct Attestation {
        let challenge: String
        let object: [UInt8]
        let keyID: [UInt8]

        var json: JSON {
            [
                "platform": "ios", "challenge": .string(challenge),
                "attestation": .string(Base64.encode(object)),
                "keyId": .string(Base64.encode(keyID)),
            ]
        }
    }

    private var point: [UInt8] { [0x04] + key.publicKey.x + key.publicKey.y }

    private func authenticatorData(_ counter: UInt32) -> [UInt8] {
        SHA256.hash(Array(app.utf8)) + [0x40]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> $0) }
    }

    func attestation(_ challenge: String) throws -> Attestation {
        let name = SHA256.hash(point)
        let credential = credentialID ?? name
        var data = authenticatorData(counter) + model
        data += [UInt8(credential.count >> 8), UInt8(credential.count & 0xFF)] + credential
        data += TestKey.es256(key).cose.encoded + trailing
        let nonce = SHA256.hash(data + SHA256.hash(hashed ?? Array(challenge.utf8)))
        var draft = CertificateDraft(key: key.publicKey.spki)
        draft.issuer = CertificateAuthority.intermediateName
        draft.extensions = [
            .init(
                identifier: "1.2.840.113635.100.8.2",
                value: ASN1.sequence(ASN1.context(1, ASN1.octets(nonce))))
        ]
        try certificate(&draft)
        let leaf = try draft.signed(by: authority.intermediateKey)
        let object = Item.map([
            (.text("fmt"), .text(format)),
            (
                .text("attStmt"),
                .map([
                    (.text("x5c"), .array([.bytes(leaf), .bytes(authority.intermediate)])),
                    (.text("receipt"), .bytes(receipt)),
                ])
            ), (.text("authData"), .bytes(data)),
        ])
        return Attestation(challenge: challenge, object: object.encoded, keyID: keyID ?? name)
    }

    func assertion(
        _ challenge: String, counter: UInt32, by other: ES256.PrivateKey? = nil
    ) throws -> JSON {
        let data = authenticatorData(counter)
        let nonce = SHA256.hash(data + SHA256.hash(Array(challenge.utf8)))
        let object = Item.map([
            (.text("signature"), .bytes(try (other ?? key).signDER(nonce))),
            (.text("authenticatorData"), .bytes(data)),
        ])
        return [
            "challenge": .string(challenge), "assertion": .string(Base64.encode(object.encoded)),
        ]
    }
}

/// Google's Play Store, with keys of our own.
struct GoogleStore: Sendable {
    let decryptionKey = Random.bytes(32)
    let certificateDigest = Random.bytes(32)
    let signing: SigningKey

    init() throws {
        signing = try SigningKey.pooled(.es256)
    }

    var keys: JSON { ["keys": [signing.verificationKey.jwk]] }

    func verdict(
        _ nonce: String, at time: Timestamp, package: String = FlagshipWorld.package
    ) -> JSONObject {
        [
            "requestDetails": [
                "requestPackageName": .string(package), "nonce": .string(nonce),
                "timestampMillis": .string(String(time.microseconds / 1000)),
            ],
            "appIntegrity": [
                "appRecognitionVerdict": "PLAY_RECOGNIZED", "packageName": .string(package),
                "certificateSha256Digest": [.string(Base64URL.encode(certificateDigest))],
                "versionCode": "42",
            ],
            "deviceIntegrity": ["deviceRecognitionVerdict": ["MEETS_DEVICE_INTEGRITY"]],
            "accountDetails": ["appLicensingVerdict": "LICENSED"],
        ]
    }

    func message(
        _ verdict: JSONObject, by key: SigningKey? = nil, under other: [UInt8]? = nil,
        header: JSON = ["alg": "A256KW", "enc": "A256GCM"]
    ) throws -> String {
        let signed = try JWS.sign(
            JSON.object(verdict).canonical(), by: key ?? signing, type: "JWT")
        let inner = SecretBytes.random(32)
        let head = Base64URL.encode(header.canonical())
        let wrapped = try AESKeyWrap.wrap(inner, key: SecretBytes(other ?? decryptionKey))
        let sealed = try AESGCM.seal(
            Array(signed.utf8), key: inner, authenticating: Array(head.utf8))
        let nonce = Array(sealed.prefix(12))
        let body = Array(sealed.dropFirst(12).dropLast(16))
        let parts = [wrapped, nonce, body, Array(sealed.suffix(16))].map { Base64URL.encode($0) }
        return ([head] + parts).joined(separator: ".")
    }

    /// What SafetyNet said of an app, of which one part may be made wrong.
    func safetyNet(
        _ challenge: String, at time: Timestamp, by authority: CertificateAuthority,
        host: String = "attest.android.com", _ more: JSONObject = [:],
        header: JSONObject = [:], forged: Bool = false
    ) throws -> JSON {
        let key = try RS256.PrivateKey.pooled()
        var draft = CertificateDraft(key: try key.publicKey.spki())
        draft.issuer = CertificateAuthority.intermediateName
        draft.subject = [("2.5.4.3", host)]
        let leaf = try draft.signed(by: authority.intermediateKey)
        let head: JSONObject = [
            "alg": "RS256",
            "x5c": [
                .string(Base64.encode(leaf)), .string(Base64.encode(authority.intermediate)),
            ],
        ]
        let verdict: JSONObject = [
            "nonce": .string(Base64.encode(Array(challenge.utf8))),
            "apkPackageName": .string(FlagshipWorld.package),
            "apkCertificateDigestSha256": [.string(Base64.encode(certificateDigest))],
            "timestampMs": .integer(time.microseconds / 1000), "basicIntegrity": true,
            "ctsProfileMatch": true,
        ]
        let text = [head.merging(header) { $1 }, verdict.merging(more) { $1 }]
            .map { Base64URL.encode(JSON.object($0).canonical()) }.joined(separator: ".")
        let signer = forged ? try RS256.PrivateKey.generate() : key
        let signature = try signer.sign(Array(text.utf8))
        return [
            "platform": "android", "issuer": "safetynet", "challenge": .string(challenge),
            "attestation": .string("\(text).\(Base64URL.encode(signature))"),
        ]
    }

    func attestation(_ challenge: String, _ text: String) -> JSON {
        [
            "platform": "android", "issuer": "playintegrity", "challenge": .string(challenge),
            "attestation": .string(text),
        ]
    }
}
