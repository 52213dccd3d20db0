internal import Cryptography
internal import Values

extension SAML {
    /// A public key by which an issuer signs: RSA of 2048 to 8192 bits, or on P-256 or P-384.
    public struct Key: Sendable, Hashable {
        /// As a SubjectPublicKeyInfo.
        public let spki: [UInt8]
        let kind: VerifyingKey.Kind

        /// Why bytes are no key of an issuer.
        public enum Fault: Error, Hashable, Sendable {
            /// Neither a certificate nor a public key.
            case unreadable
            /// Of a kind or a size that no signature is taken of.
            case unsupported
        }

        /// The key of a certificate. That the certificate was given is what makes the key good: as in the
        /// metadata of SAML, its dates, names and issuer mean nothing.
        public init(certificate der: [UInt8]) throws(Fault) {
            guard let certificate = try? Certificate(der: der) else { throw .unreadable }
            guard let key = try? certificate.publicKey() else { throw .unsupported }
            try self.init(key)
        }

        /// A SubjectPublicKeyInfo.
        public init(publicKey der: [UInt8]) throws(Fault) {
            guard let key = try? VerifyingKey(spki: der) else { throw .unreadable }
            try self.init(key)
        }

        /// As people paste it: PEM of a certificate or of a public key, or the Base64 of a certificate
        /// as it stands in metadata.
        public init(text: String) throws(Fault) {
            guard text.utf8.count <= 2 * Certificate.maximumLength else { throw .unreadable }
            let lines = text.split { $0.isNewline }.map { $0.filter { !$0.isWhitespace } }
            let body = lines.filter { !$0.hasPrefix("-----") }.joined()
            guard let der = Base64.decode(body) else { throw .unreadable }
            switch lines.first(where: { $0.hasPrefix("-----") }) {
            case nil, "-----BEGINCERTIFICATE-----": try self.init(certificate: der)
            case "-----BEGINPUBLICKEY-----": try self.init(publicKey: der)
            default: throw .unreadable
            }
        }

        private init(_ key: VerifyingKey) throws(Fault) {
            switch key.kind {
            case .rsa, .p256, .p384: kind = key.kind
            case .p521, .ed25519, .ed448: throw .unsupported
            }
            guard let spki = try? key.spki() else { throw .unsupported }
            self.spki = spki
        }
    }
}
