public import Cryptography
internal import JSON
internal import Values

/// Messages that are encrypted to a public key, in the compact form (RFC 7516): RSA-OAEP-256 or
/// ECDH-ES on P-256. What is encrypted is by A256GCM; A128CBC-HS256 is read as well.
public enum JWE {
    /// How the key of a message comes to its reader (RFC 7518 section 4).
    public enum KeyManagement: String, Sendable, Hashable, CaseIterable {
        case rsaOAEP256 = "RSA-OAEP-256"
        case ecdhES = "ECDH-ES"
    }

    /// The most that is encrypted: what `decrypt` takes has room for it.
    public static let longestPlaintext = 40 << 10

    /// A message that was opened. Its author is not authenticated: a public key is known to all.
    public struct Opened: Sendable, Hashable {
        public let plaintext: [UInt8]
        public let algorithm: KeyManagement
        public let keyID: String?
        /// `typ` and `cty`.
        public let type: String?
        public let contentType: String?
    }

    // MARK: - Encrypting

    /// - Parameters:
    ///   - contentType: `cty`, what is inside: `JWT` for a signed token.
    ///   - type: `typ`, what the whole is.
    public static func encrypt(
        _ plaintext: [UInt8], to key: EncryptionKey, contentType: String? = nil,
        type: String? = nil
    ) throws(Failure) -> String {
        precondition(plaintext.count <= longestPlaintext, "A message is as long as can be read")
        var header: JSONObject = [
            "alg": .string(key.algorithm.rawValue),
            "enc": .string(ContentEncryption.a256GCM.rawValue),
        ]
        if let id = key.id { header["kid"] = .string(id) }
        if let contentType { header["cty"] = .string(contentType) }
        if let type { header["typ"] = .string(type) }
        let (content, encrypted) = try contentKey(for: key, &header)
        let head = Base64URL.encode(JSON.object(header).canonical())
        let sealed = try AESGCM.seal(plaintext, key: content, authenticating: Array(head.utf8))
        let nonce = sealed.prefix(AESGCM.nonceLength)
        let tag = sealed.suffix(AESGCM.tagLength)
        let text = sealed[nonce.endIndex..<tag.startIndex]
        let parts = [encrypted, Array(nonce), Array(text), Array(tag)].map(Base64URL.encode)
        return ([head] + parts).joined(separator: ".")
    }

    /// A signed token inside of an encrypted one (RFC 7519 section 5.2).
    public static func encrypt(token: String, to key: EncryptionKey) throws(Failure) -> String {
        try encrypt(Array(token.utf8), to: key, contentType: "JWT", type: "JWT")
    }

    private static func contentKey(
        for key: EncryptionKey, _ header: inout JSONObject
    ) throws(Failure) -> (SecretBytes, encrypted: [UInt8]) {
        switch key.material {
        case .rsa(let key):
            let content = SecretBytes.random(AESGCM.keyLength)
            return (content, try RSAOAEP.encrypt(content, to: key))
        case .p256(let key):
            let own = try ES256.PrivateKey.generate()
            header["epk"] = .object(
                VerificationKey.Material.p256(own.publicKey).requiredMembers)
            return (try agree(own, key, for: .a256GCM, u: [], v: []), [])
        }
    }

    // MARK: - Decrypting

    /// What is inside, by the key that the message names, or by the only one that can be meant.
    ///
    /// All that fails behind the header fails alike and as late, with `badSignature`: an answer that
    /// told a wrong padding from a wrong tag would decrypt other messages (RFC 7516 section 11.5).
    public static func decrypt(
        _ text: String, by keys: [DecryptionKey]
    ) throws(TokenRejection) -> Opened {
        let message = try EncryptedMessage(text, encryptions: ContentEncryption.allCases)
        guard let algorithm = (message.header["alg"]?.string).flatMap(KeyManagement.init) else {
            throw .algorithmNotAllowed
        }
        let id = try member("kid", of: message.header, most: KeySet.longestKeyID)
        let type = try member("typ", of: message.header, most: 128)
        let contentType = try member("cty", of: message.header, most: 128)
        let fitting = keys.filter { key in
            key.algorithm == algorithm && (id.map { key.id.hasSameBytes(as: $0) } ?? true)
        }
        guard fitting.count == 1 else { throw .unknownKey }
        let content = contentKey(of: message, by: fitting[0])
        let plaintext = try message.open(content ?? .random(ContentEncryption.keyLength))
        return Opened(
            plaintext: plaintext, algorithm: algorithm, keyID: id, type: type,
            contentType: contentType)
    }

    /// The signed token inside of an encrypted one, which has to say that it is one. Its signature is
    /// not verified here.
    public static func decryptToken(
        _ text: String, by keys: [DecryptionKey]
    ) throws(TokenRejection) -> String {
        let opened = try decrypt(text, by: keys)
        guard TokenTypes(["JWT"]).accepts(opened.contentType) else { throw .wrongType }
        guard let token = String(validating: opened.plaintext, as: UTF8.self) else {
            throw .malformed
        }
        return token
    }

    /// Nil where no content key can be had, for any reason.
    private static func contentKey(
        of message: EncryptedMessage, by key: DecryptionKey
    ) -> SecretBytes? {
        switch key.material {
        case .rsa(let key):
            return try? RSAOAEP.decrypt(
                message.encryptedKey, by: key, count: ContentEncryption.keyLength)
        case .p256(let key):
            guard message.encryptedKey.isEmpty,
                let sender = ephemeral(message.header["epk"]),
                let u = party("apu", of: message.header), let v = party("apv", of: message.header)
            else { return nil }
            return try? agree(key, sender, for: message.encryption, u: u, v: v)
        }
    }

    /// RFC 7518 section 4.6.1.1. A key that shows its private part is one that is known to all.
    private static func ephemeral(_ value: JSON?) -> ES256.PublicKey? {
        guard let value, let key = try? VerificationKey(jwk: value),
            case .p256(let point) = key.material
        else { return nil }
        return point
    }

    /// What is known of a party; nothing, mostly.
    private static func party(_ name: String, of header: JSONObject) -> [UInt8]? {
        guard let value = header[name] else { return [] }
        return value.string.flatMap { Base64URL.decode($0) }
    }

    private static func agree(
        _ own: ES256.PrivateKey, _ other: ES256.PublicKey, for encryption: ContentEncryption,
        u: [UInt8], v: [UInt8]
    ) throws(Failure) -> SecretBytes {
        ConcatKDF.derive(
            from: try own.agreement(with: other),
            info: info(
                algorithm: encryption.rawValue, bits: 8 * UInt32(ContentEncryption.keyLength), u: u,
                v: v)
        )
    }

    /// RFC 7518 section 4.6.2: each of the first three with its length before it.
    static func info(algorithm: String, bits: UInt32, u: [UInt8], v: [UInt8]) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return [Array(algorithm.utf8), u, v].flatMap { bytes(UInt32($0.count)) + $0 } + bytes(bits)
    }

    private static func member(
        _ name: String, of header: JSONObject, most: Int
    ) throws(TokenRejection) -> String? {
        guard let value = header[name] else { return nil }
        guard let text = value.string, text.utf8.count <= most else { throw .malformed }
        return text
    }
}
