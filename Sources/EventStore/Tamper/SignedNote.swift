public import Cryptography
import Values

/// A text and the signatures under it (C2SP signed-note).
public struct SignedNote: Sendable, Equatable {
    public struct Signature: Sendable, Equatable {
        public let name: String
        public let keyID: UInt32
        public let bytes: [UInt8]
    }

    /// Ends with a newline; the signatures are over exactly these bytes.
    public let text: [UInt8]
    public let signatures: [Signature]

    /// More than any note of ours, and enough for many witnesses.
    static let maximumLength = 64 * 1024
    static let maximumSignatures = 64

    /// Reads a whole note. Nil unless it is well-formed; nothing is verified yet.
    public init?(_ note: [UInt8]) {
        guard note.count <= SignedNote.maximumLength, note.last == newline,
            note.allSatisfy({ $0 >= 0x20 || $0 == newline }),
            String(validating: note, as: UTF8.self) != nil,
            let blank = note.lastBlankLine
        else { return nil }
        text = Array(note[..<blank])
        var signatures: [Signature] = []
        let lines = note[(blank + 1)...].dropLast().split(
            separator: newline, omittingEmptySubsequences: false)
        for line in lines {
            guard signatures.count < SignedNote.maximumSignatures,
                let signature = Signature(line: String(decoding: line, as: UTF8.self))
            else { return nil }
            signatures.append(signature)
        }
        self.signatures = signatures
    }

    /// Signs a text, which must end with a newline.
    public init(_ text: [UInt8], signedBy signer: NoteSigner) throws {
        precondition(text.last == newline, "The text of a note ends with a newline.")
        self.text = text
        signatures = [
            Signature(
                name: signer.verifier.name, keyID: signer.verifier.id,
                bytes: try signer.key.sign(text))
        ]
    }

    public var bytes: [UInt8] {
        var note = text
        note.append(newline)
        for signature in signatures { note.append(contentsOf: signature.line.utf8) }
        return note
    }

    /// Whether a key signed the note. A bad signature by that key spoils it, also beside a good one.
    public func isSigned(by key: NoteVerifier) -> Bool {
        let own = signatures.filter { $0.keyID == key.id && $0.name == key.name }
        return !own.isEmpty && own.allSatisfy { key.publicKey.isValid($0.bytes, for: text) }
    }
}

extension SignedNote.Signature {
    fileprivate init?(line: String) {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "\u{2014}", NoteVerifier.isName(String(parts[1])),
            let content = Base64.decode(String(parts[2])), content.count > 4
        else { return nil }
        name = String(parts[1])
        keyID = content[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        bytes = Array(content[4...])
    }

    fileprivate var line: String {
        let id = (0..<4).map { UInt8(truncatingIfNeeded: keyID >> UInt32(24 - 8 * $0)) }
        return "\u{2014} \(name) \(Base64.encode(id + bytes))\n"
    }
}

/// The public half of a key that signs notes, under its name.
public struct NoteVerifier: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public let id: UInt32
    public let publicKey: Ed25519.PublicKey

    /// Nil for a name that can't stand in a signature line.
    public init?(name: String, publicKey: Ed25519.PublicKey) {
        guard NoteVerifier.isName(name) else { return nil }
        self.name = name
        self.publicKey = publicKey
        let digest = SHA256.hash([Array(name.utf8), [newline, ed25519Type], publicKey.bytes])
        id = digest[..<4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads `<name>+<id in hex>+<base64 of type and key>`, the form that verifiers are given.
    public init?(_ text: String) {
        let parts = text.split(
            separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let content = Base64.decode(String(parts[2])),
            content.first == ed25519Type,
            let key = try? Ed25519.PublicKey(Array(content.dropFirst())),
            let id = Hex.decode(String(parts[1])), id.count == 4
        else { return nil }
        self.init(name: String(parts[0]), publicKey: key)
        guard self.id == id.reduce(0, { $0 << 8 | UInt32($1) }) else { return nil }
    }

    public var description: String {
        let digits = Hex.encode(
            (0..<4).map { UInt8(truncatingIfNeeded: id >> UInt32(24 - 8 * $0)) })
        return "\(name)+\(digits)+\(Base64.encode([ed25519Type] + publicKey.bytes))"
    }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0 != "+" && $0.value >= 0x20
            }
    }
}

/// A key that signs notes, under its name.
public struct NoteSigner: Sendable {
    public let verifier: NoteVerifier
    let key: Ed25519.PrivateKey

    public init?(name: String, key: Ed25519.PrivateKey) {
        guard let verifier = NoteVerifier(name: name, publicKey: key.publicKey) else { return nil }
        self.verifier = verifier
        self.key = key
    }
}

private let newline: UInt8 = 0x0A
private let ed25519Type: UInt8 = 0x01

extension [UInt8] {
    /// Where the last line without content begins, after the first line.
    fileprivate var lastBlankLine: Int? {
        guard count >= 2 else { return nil }
        return stride(from: count - 2, to: 0, by: -1).first {
            self[$0] == newline && self[$0 - 1] == newline
        }
    }
}
