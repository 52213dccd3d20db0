import Cryptography
import Values

/// A public key of minisign, which signs the BLAKE2b digest of a file, and a comment along with it.
struct MinisignKey: Sendable {
    private let number: [UInt8]
    private let key: Ed25519.PublicKey

    /// Reads the two lines of a file with a key; nil where it is none.
    init?(_ text: String) {
        guard let bytes = Self.line(1, of: text, of: 2), bytes.count == 42,
            bytes.starts(with: "Ed".utf8),
            let key = try? Ed25519.PublicKey(Array(bytes[10...]))
        else { return nil }
        number = Array(bytes[2..<10])
        self.key = key
    }

    /// The comment that a signature vouches for; nil where this key did not sign these bytes.
    func comment(of signature: String, over bytes: [UInt8]) throws -> String? {
        let lines = signature.split(whereSeparator: \.isNewline)
        let prefix = "trusted comment: "
        guard let signed = Self.line(1, of: signature, of: 4), signed.count == 74,
            signed.starts(with: Array("ED".utf8) + number), lines[2].hasPrefix(prefix),
            let whole = Self.line(3, of: signature, of: 4)
        else { return nil }
        let own = Array(signed[10...])
        let comment = lines[2].dropFirst(prefix.count)
        guard key.isValid(own, for: try HashFunction.blake2b512.hash(bytes)),
            key.isValid(whole, for: own + comment.utf8)
        else { return nil }
        return String(comment)
    }

    private static func line(_ index: Int, of text: String, of count: Int) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline)
        return lines.count == count ? Base64.decode(String(lines[index])) : nil
    }
}
