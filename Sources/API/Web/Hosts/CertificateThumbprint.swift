internal import Cryptography
internal import Values

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
