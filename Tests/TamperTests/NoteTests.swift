import Cryptography
import Testing
import Values

@testable import EventStore

/// The example of the Go implementation of signed notes.
private let goKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
private let goNote = """
    If you think cryptography is the answer to your problem,
    then you don't know what your problem is.

    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

    """

private func makeSigner(_ name: String = "urd.test/realm") throws -> NoteSigner {
    try #require(NoteSigner(name: name, key: .generate()))
}

@Suite struct `A signed note` {
    @Test func `a signed note of another implementation is read and verified`() throws {
        let key = try #require(NoteVerifier(goKey))
        #expect(key.description == goKey)
        let note = try #require(SignedNote(Array(goNote.utf8)))
        #expect(note.bytes == Array(goNote.utf8))
        #expect(note.isSigned(by: key))
    }

    @Test func `a signed note with any bit of text or signature changed is refused`() throws {
        let key = try #require(NoteVerifier(goKey))
        let bytes = Array(goNote.utf8)
        for index in bytes.indices {
            var altered = bytes
            altered[index] ^= 1
            #expect(SignedNote(altered)?.isSigned(by: key) != true, "byte \(index)")
        }
    }

    @Test func `a signed note with one bad signature of two by the key is refused`() throws {
        let signer = try makeSigner()
        let good = try SignedNote(Array("a\n".utf8), signedBy: signer).bytes
        let other = try SignedNote(Array("b\n".utf8), signedBy: signer).bytes
        let both = good + other.dropFirst(3)
        let note = try #require(SignedNote(both))
        #expect(note.signatures.count == 2)
        #expect(!note.isSigned(by: signer.verifier))
    }

    @Test func `a signed note may have signatures of unknown keys`() throws {
        let signer = try makeSigner()
        let witness = try self.witness(over: "a\n")
        let note = try SignedNote(Array("a\n".utf8), signedBy: signer).bytes + witness
        #expect(try #require(SignedNote(note)).isSigned(by: signer.verifier))
        #expect(try !#require(SignedNote(note)).isSigned(by: makeSigner().verifier))
    }

    private func witness(over text: String) throws -> [UInt8] {
        let note = try SignedNote(Array(text.utf8), signedBy: makeSigner("witness.test"))
        return Array(note.bytes.dropFirst(text.utf8.count + 1))
    }

    @Test(arguments: [
        "", "\n", "a", "a\n", "a\n\n", "a\n\n\u{2014} x AAAA", "a\n\n- x AAAAAAAA\n",
        "a\n\n\u{2014} x y AAAAAAAA\n", "a\n\n\u{2014} x AAAA\n", "a\t\n\n\u{2014} x AAAAAAAA\n",
        "a\n\n\u{2014} x AAAAAAAA\n\n",
    ])
    func `a malformed signed note is refused`(_ text: String) {
        #expect(SignedNote(Array(text.utf8)) == nil)
    }

    @Test func `a signed note's key is checked against its id`() throws {
        let verifier = try makeSigner().verifier
        #expect(NoteVerifier(verifier.description) == verifier)
        #expect(NoteVerifier(goKey.replacing("c74f20a3", with: "c74f20a4")) == nil)
        #expect(NoteVerifier(goKey.replacing("PeterNeumann", with: "Peter Neumann")) == nil)
        #expect(NoteVerifier("a+b") == nil)
    }
}

@Suite struct `A checkpoint` {
    @Test func `a checkpoint is written as specified and read back`() throws {
        let signer = try makeSigner()
        let root = Merkle.leaf([1, 2, 3])
        let signed = try Checkpoint(origin: signer.verifier.name, size: 20_852_163, root: root)
            .signed(by: signer)
        let lines = String(decoding: signed.note, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "urd.test/realm")
        #expect(lines[1] == "20852163")
        #expect(lines[2] == Base64.encode(root.bytes))
        #expect(lines[3] == "")
        #expect(lines[4].hasPrefix("\u{2014} urd.test/realm "))
        let read = SignedCheckpoint(note: signed.note, key: signer.verifier.publicKey)
        #expect(read == signed)
        #expect(
            SignedCheckpoint(note: signed.note, key: try makeSigner().verifier.publicKey) == nil)
    }

    @Test(arguments: [
        "o\n01\nROOT\n", "o\n-1\nROOT\n", "o\n+1\nROOT\n", "o\n1\nROO\n", "o\n1\n", "\n1\nROOT\n",
        "o\n1\nROOT", "o\n1\nROOT\n\n", "o\n9999999999999999999\nROOT\n", "o\n1 \nROOT\n",
    ])
    func `a malformed checkpoint is refused`(_ text: String) {
        let root = Base64.encode(Merkle.emptyRoot.bytes)
        #expect(Checkpoint(text: Array(text.replacing("ROOT", with: root).utf8)) == nil)
    }

    @Test func `a checkpoint may carry extension lines`() throws {
        let root = Base64.encode(Merkle.emptyRoot.bytes)
        let read = try #require(Checkpoint(text: Array("o\n0\n\(root)\nmore\n".utf8)))
        #expect(read.size == 0 && read.root == Merkle.emptyRoot)
    }
}
