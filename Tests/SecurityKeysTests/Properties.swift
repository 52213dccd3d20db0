import Cryptography
import JSON
import SecurityKeys
import Values

@testable import SecurityKeysTesting

/// What must hold for any bytes, taken for each thing that an authenticator or a browser sends; the
/// sentence says what broke. Tests and fuzzers share it.
func brokenCeremonyProperty(of bytes: [UInt8]) -> String? {
    let id: [UInt8] = Array(0..<32)
    let challenge: [UInt8] = Array(0..<16)
    let party = RelyingParty(id: "example.org", origins: ["https://example.org"])
    func clientData(_ type: String) -> [UInt8] {
        let challenge = Base64URL.encode(challenge)
        let members =
            #""type":"\#(type)","challenge":"\#(challenge)","origin":"https://example.org""#
        return Array("{\(members)}".utf8)
    }
    func credential(_ response: [String: [UInt8]]) -> JSON {
        [
            "id": .string(Base64URL.encode(id)), "rawId": .string(Base64URL.encode(id)),
            "type": "public-key",
            "response": .object(
                JSONObject(response.map { ($0.key, .string(Base64URL.encode($0.value))) })),
        ]
    }
    func register(_ object: [UInt8], _ data: [UInt8]) throws -> RegisteredCredential {
        try Registration.verify(
            PublicKeyCredential.Attestation(
                credential(["clientDataJSON": data, "attestationObject": object])),
            challenge: challenge, relyingParty: party, requiresUserVerification: false,
            requiresUserPresence: false,
            offeredAlgorithms: COSEAlgorithm.allCases.map(\.rawValue),
            at: Timestamp(seconds: 1_780_000_000))
    }
    func use(_ data: [UInt8], _ client: [UInt8], key: [UInt8]) throws -> AssertionOutcome {
        try Assertion.verify(
            PublicKeyCredential.Assertion(
                credential([
                    "clientDataJSON": client, "authenticatorData": data, "signature": [1],
                ])),
            stored: StoredCredential(
                id: id, publicKey: key, signCount: 0, backupEligible: false, userHandle: [1]),
            challenge: challenge, relyingParty: party, requiresUserVerification: false,
            identifiesUser: false)
    }
    let data = SHA256.hash(Array(party.id.utf8)) + [0x01, 0, 0, 0, 0]
    if let kept = try? register(bytes, clientData("webauthn.create")) {
        if kept.id != id { return "another id is registered than was sent" }
        if kept.publicKey.isEmpty || kept.model.count != 16 { return "nothing is registered" }
        if kept.attestation.isTrusted { return "nobody was trusted, but this is" }
    }
    if (try? use(bytes, clientData("webauthn.get"), key: bytes)) != nil {
        return "one byte is taken for a signature"
    }
    if (try? register(bytes, bytes)) != nil { return "an object is client data as well" }
    if (try? use(data, bytes, key: bytes)) != nil { return "one byte is taken for a signature" }
    _ = try? PublicKeyCredential.Attestation(text: bytes)
    _ = try? PublicKeyCredential.Assertion(text: bytes)
    if let certificate = try? Certificate(der: bytes) {
        if certificate.der != bytes { return "a certificate is not what it was" }
        _ = try? certificate.publicKey()
        _ = try? certificate.extension("2.5.29.17")
        _ = (certificate.isAuthority, certificate.subject("2.5.4.3"), certificate.isSelfSigned)
        _ = try? CertificateChain([certificate]).check(at: 1_780_000_000)
    }
    return nil
}
