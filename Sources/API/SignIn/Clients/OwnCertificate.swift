internal import Cryptography
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A certificate that the client has registered and shows in TLS (RFC 8705 section 2.2), as a proxy that is
/// trusted tells it. Who signed the certificate does not matter: that it is this one does.
struct OwnCertificate: ClientWay {
    let mayBeOld = false

    func proof(
        of claim: ClientClaim, in context: RealmContext
    ) async throws(Problem) -> ClientProof? {
        guard claim.shown == .none, let shown = context.place.certificate else { return nil }
        let keys = claim.client.metadata.jwks?["keys"]?.array ?? []
        let isRegistered = keys.contains { key in
            guard let text = key["x5c"]?.array?.first?.string, let der = Base64.decode(text) else {
                return false
            }
            return CertificateThumbprint(der: der) == shown
        }
        return isRegistered ? .certificate : nil
    }
}

/// What a certificate is known by (`x5t#S256`).
public struct CertificateThumbprint: Hashable, Sendable {
    public let text: String

    init(der: [UInt8]) { text = Base64URL.encode(SHA256.hash(der)) }

    /// As RFC 9440 has it in a header: base 64 between colons. Nil for what is no certificate.
    init?(header: String) {
        let bytes = header.utf8
        guard bytes.count > 2, bytes.count <= 32_768, bytes.first == UInt8(ascii: ":"),
            bytes.last == UInt8(ascii: ":"),
            let der = Base64.decode(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)),
            (try? Certificate(der: der)) != nil
        else { return nil }
        self.init(der: der)
    }
}
