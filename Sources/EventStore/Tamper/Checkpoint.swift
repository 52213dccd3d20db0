public import Cryptography
import Values

/// How large a log was and what its root was then (C2SP tlog-checkpoint).
public struct Checkpoint: Sendable, Equatable {
    public let origin: String
    public let size: Int64
    public let root: TreeHash

    public init(origin: String, size: Int64, root: TreeHash) {
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// Reads the text of a note. Lines after the third are others' extensions and mean nothing here.
    public init?(text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).utf8
            .split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        guard lines.count >= 4, lines.last == "", !lines.dropLast().contains(""),
            lines[1].utf8.count <= 18, lines[1].utf8.allSatisfy({ (48...57).contains($0) }),
            lines[1] == "0" || lines[1].utf8.first != 48, let size = Int64(lines[1]),
            let root = Base64.decode(lines[2]).flatMap({ TreeHash($0) })
        else { return nil }
        self.init(origin: lines[0], size: size, root: root)
    }

    public var text: [UInt8] {
        Array("\(origin)\n\(size)\n\(Base64.encode(root.bytes))\n".utf8)
    }

    public func signed(by signer: NoteSigner) throws -> SignedCheckpoint {
        SignedCheckpoint(checkpoint: self, note: try SignedNote(text, signedBy: signer).bytes)
    }
}

/// A checkpoint and the note that it was read from.
public struct SignedCheckpoint: Sendable, Equatable {
    public let checkpoint: Checkpoint
    public let note: [UInt8]

    public var size: Int64 { checkpoint.size }
    public var root: TreeHash { checkpoint.root }

    fileprivate init(checkpoint: Checkpoint, note: [UInt8]) {
        self.checkpoint = checkpoint
        self.note = note
    }

    /// Nil unless the note is a checkpoint that this key signed under the checkpoint's own origin.
    /// The origin is a matter of configuration and may have changed; the key is the realm's.
    public init?(note: [UInt8], key: Ed25519.PublicKey) {
        guard let signed = SignedNote(note), let checkpoint = Checkpoint(text: signed.text),
            let verifier = NoteVerifier(name: checkpoint.origin, publicKey: key),
            signed.isSigned(by: verifier)
        else { return nil }
        self.init(checkpoint: checkpoint, note: note)
    }
}
