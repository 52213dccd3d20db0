import Testing

@testable import Cryptography

@Suite struct `SHA-256` {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the digests of FIPS 180`(text: String, digest: String) {
        #expect(SHA256.hash(Array(text.utf8)) == bytes(digest))
    }

    @Test func `SHA-256 gives the digest of a million letters a, in pieces of uneven size`() {
        var state = SHA256.Incremental()
        var left = 1_000_000
        var size = 1
        while left > 0 {
            state.update([UInt8](repeating: 0x61, count: min(size, left)))
            left -= size
            size = (size * 7) % 997 + 1
        }
        #expect(
            state.digest()
                == bytes("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"))
    }

    @Test func `SHA-256 gives one digest for a text whole, in parts and in the caller's memory`() {
        for count in 0..<200 {
            let whole = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let digest = SHA256.hash(whole)
            let cut = count / 3
            #expect(SHA256.hash([Array(whole[..<cut]), [], Array(whole[cut...])]) == digest)
            var room = [UInt8](repeating: 0xee, count: 33)
            whole.withUnsafeBytes { input in
                room.withUnsafeMutableBytes { SHA256.hash(input, into: $0) }
            }
            #expect(room == digest + [0xee])
        }
    }

    @Test func `SHA-256 continues after a digest was taken, and a copy is independent`() {
        var state = SHA256.Incremental()
        state.update(Array("ab".utf8))
        #expect(state.digest() == SHA256.hash(Array("ab".utf8)))
        var other = state
        other.update(Array("x".utf8))
        state.update(Array("c".utf8))
        #expect(state.digest() == SHA256.hash(Array("abc".utf8)))
        #expect(other.digest() == SHA256.hash(Array("abx".utf8)))
    }
}
