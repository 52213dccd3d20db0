public import Cryptography
import Values

/// How large a log was and what its root was then (C2SP tlog-checkpoint).
public struct Checkpoint: Sendable, Equatable {
    public let origin: String
    public let size: Int64
    public let root: TreeHash
    /// The realm's epoch when it was signed, as an extension line. Nil: it was signed before
    /// checkpoints said so.
    public let epoch: Int?

    public init(origin: String, size: Int64, root: TreeHash, epoch: Int? = nil) {
        self.origin = origin
        self.size = size
        self.root = root
        self.epoch = epoch
    }

    /// Reads the text of a note. Of the lines after the third only the epoch means something here.
    public init?(text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).utf8
            .split(separator: 0x0A, omittingEmptySubsequences: false).map { String($0) ?? "" }
        guard lines.count >= 4, lines.last == "", !lines.dropLast().contains(""),
            lines[1].utf8.count <= 18, lines[1].utf8.allSatisfy({ (48...57).contains($0) }),
            lines[1] == "0" || lines[1].utf8.first != 48, let size = Int64(lines[1]),
            let root = Base64.decode(lines[2]).flatMap({ TreeHash($0) })
        else { return nil }
        let epoch = lines[3...].lazy.filter { $0.hasPrefix(epochLine) }
            .compactMap { Int($0.dropFirst(epochLine.utf8.count)) }.first
        self.init(
            origin: lines[0], size: size, root: root, epoch: epoch.flatMap { $0 > 0 ? $0 : nil })
    }

    public var text: [UInt8] {
        let extensions = epoch.map { "\(epochLine)\($0)\n" } ?? ""
        return Array("\(origin)\n\(size)\n\(Base64.encode(root.bytes))\n\(extensions)".utf8)
    }

    public func signed(by signer: NoteSigner) throws -> SignedCheckpoint {
        SignedCheckpoint(checkpoint: self, note: try SignedNote(text, signedBy: signer).bytes)
    }
}

private let epochLine = "epoch "

/// A checkpoint and the note that it was read from.
public struct SignedCheckpoint: Sendable, Equatable {
    public let checkpoint: Checkpoint
    public let note: [UInt8]

    public var size: Int64 { checkpoint.size }
    public var root: TreeHash { checkpoint.root }
    /// Before checkpoints said so, most realms were in their first.
    public var epoch: Int { checkpoint.epoch ?? 1 }

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
