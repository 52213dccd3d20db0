import Testing

@testable import Cryptography

@Suite struct `HMAC-SHA-256` {
    /// RFC 4231, test cases 1 to 4, 6 and 7 (case 5 is about a shortened tag).
    @Test(arguments: [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            "0102030405060708090a0b0c0d0e0f10111213141516171819",
            String(repeating: "cd", count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            String(repeating: "aa", count: 131),
            hex(Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            String(repeating: "aa", count: 131),
            hex(
                Array(
                    """
                    This is a test using a larger than block-size key and a larger than \
                    block-size data. The key needs to be hashed before being used by the HMAC \
                    algorithm.
                    """.utf8)),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ])
    func `HMAC-SHA-256 gives the tags of RFC 4231`(key: String, message: String, tag: String) {
        let message = bytes(message)
        for key in [HMACKey(bytes(key)), HMACKey(SecretBytes(bytes(key)))] {
            #expect(key.authenticate(message) == bytes(tag))
            #expect(key.isValid(bytes(tag), for: message))
            let cut = message.count / 2
            #expect(
                key.authenticate([Array(message[..<cut]), [], Array(message[cut...])]) == bytes(tag)
            )
            var room = [UInt8](repeating: 0xee, count: 33)
            message.withUnsafeBytes { input in
                room.withUnsafeMutableBytes { key.authenticate(input, into: $0) }
            }
            #expect(room == bytes(tag) + [0xee])
        }
    }

    /// RFC 2104: a key of one block is used as it is, a longer one is hashed first.
    @Test func `HMAC-SHA-256 hashes only keys of more than 64 bytes`() {
        for count in [63, 64, 65, 66] {
            let key = Random.bytes(count)
            let isHashed =
                HMACKey(key).authenticate([1]) == HMACKey(SHA256.hash(key)).authenticate([1])
            #expect(isHashed == (count > 64))
        }
    }

    @Test func `HMAC-SHA-256 refuses every flipped bit and every shortened tag`() {
        let key = HMACKey(Random.bytes(32))
        let message = Array("message".utf8)
        let tag = key.authenticate(message)
        #expect(key.isValid(tag, for: message))
        for changed in withOneBitFlipped(tag) { #expect(!key.isValid(changed, for: message)) }
        for count in tag.indices { #expect(!key.isValid(Array(tag[..<count]), for: message)) }
        #expect(!key.isValid(tag + [0], for: message))
        for other in withOneBitFlipped(message) { #expect(!key.isValid(tag, for: other)) }
    }

    @Test func `HMAC-SHA-256 gives right tags on many threads at once`() async {
        let key = HMACKey(Random.bytes(32))
        let expected = (0..<256).map { key.authenticate([UInt8($0)]) }
        let right = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<2000).allSatisfy {
                        key.authenticate([UInt8($0 % 256)]) == expected[$0 % 256]
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(right)
    }
}
