internal import JSON
internal import Values

/// A signed message in its compact form (RFC 7515 section 3.1), taken apart and not yet believed.
struct CompactJWS: Sendable {
    static let longestHeader = 4096
    /// RFC 7515 knows no header that nests deeper than a key with its certificates.
    static let deepestHeader = 4

    let algorithm: Algorithm
    let keyID: String?
    let type: String?
    /// What the sender would like to be believed by. Only `KeyProof` looks at it.
    let key: JSON?
    let payload: [UInt8]
    let signingInput: [UInt8]
    let signature: [UInt8]

    init(_ text: String, most: Int) throws(TokenRejection) {
        guard text.utf8.count <= most else { throw .tooLarge }
        let bytes = Array(text.utf8)
        // One more than there may be, so that a fourth part is seen and the rest not split.
        let parts = bytes.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        guard parts[0].count <= Self.longestHeader else { throw .tooLarge }
        let limits = JSON.Limits(depth: Self.deepestHeader, size: Self.longestHeader)
        guard let header = Self.decode(parts[0]),
            case .object(let members)? = try? JSON.parse(header, limits: limits)
        else { throw .malformed }
        try Self.refuseExtensions(members)
        guard let name = members["alg"]?.string, let algorithm = Algorithm(rawValue: name) else {
            throw .algorithmNotAllowed
        }
        self.algorithm = algorithm
        keyID = try Self.text("kid", of: members, most: KeySet.longestKeyID)
        key = members["jwk"]
        type = try Self.text("typ", of: members, most: 128)
        guard let payload = Self.decode(parts[1]), let signature = Self.decode(parts[2]) else {
            throw .malformed
        }
        guard !signature.isEmpty else { throw .badSignature }
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    /// What changes the meaning of the message must be understood, and we understand none of it:
    /// any `crit` (RFC 7515 section 4.1.11), even an empty one, which is forbidden; an unencoded
    /// payload (RFC 7797), also when `crit` does not name it; encryption and compression.
    ///
    /// `jku`, `x5c`, `x5u` and `x5t` are passed over: they say which key the sender would like to
    /// be believed by, and nothing here reads them; nor `jwk`, but for proofs of that very key.
    private static func refuseExtensions(_ members: JSONObject) throws(TokenRejection) {
        for name in ["crit", "b64", "enc", "zip"] where members[name] != nil {
            throw .unsupportedHeader
        }
    }

    private static func text(
        _ name: String, of members: JSONObject, most: Int
    ) throws(TokenRejection) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string, text.utf8.count <= most else { throw .malformed }
        return text
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64URL.decode(String(decoding: part, as: UTF8.self))
    }
}
