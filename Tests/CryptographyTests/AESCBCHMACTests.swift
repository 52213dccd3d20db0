import Testing

@testable import Cryptography

@Suite struct `AES-128-CBC with HMAC-SHA-256` {
    // RFC 7518 appendix B.1.
    private let key = Array(UInt8(0)...31)
    private let authenticated = Array("The second principle of Auguste Kerckhoffs".utf8)
    private let nonce = bytes("1af38c2dc2b96ffdd86694092341bc04")
    private let text = bytes(
        """
        c80edfa32ddf39d5ef00c0b468834279a2e46a1b8049f792f76bfe54b903a9c9
        a94ac9b47ad2655c5f10f9aef71427e2fc6f9b3f399a221489f16362c7032336
        09d45ac69864e3321cf82935ac4096c86e133314c54019e8ca7980dfa4b9cf1b
        384c486f3a54c51078158ee5d79de59fbd34d848b3d69550a67646344427ade5
        4b8851ffb598f7f80074b9473c82e2db
        """)
    private let tag = bytes("652c3fa36b0a7c5b3219fab3a30bc1c4")
    private let plain =
        "A cipher system must not be required to be secret, and it must be able to fall into "
        + "the hands of the enemy without inconvenience"

    private func open(
        _ sealed: [UInt8], key: [UInt8]? = nil, authenticating: [UInt8]? = nil
    ) throws(Failure) -> String {
        String(
            decoding: try AESCBCHMAC.open(
                sealed, key: SecretBytes(key ?? self.key),
                authenticating: authenticating ?? authenticated), as: UTF8.self)
    }

    private func refuse(
        _ reason: Failure.Code, location: SourceLocation = #_sourceLocation,
        _ opening: () throws(Failure) -> String
    ) {
        do throws(Failure) {
            let text = try opening()
            Issue.record("opened: \(text)", sourceLocation: location)
        } catch {
            #expect(error.code == reason, sourceLocation: location)
        }
    }

    @Test func `the example of RFC 7518 is opened`() throws {
        #expect(try open(nonce + text + tag) == plain)
    }

    @Test func `a bit that was changed anywhere is refused`() {
        for changed in withOneBitFlipped(nonce + text + tag) {
            refuse(.refused) { () throws(Failure) in try open(changed) }
        }
        for changed in withOneBitFlipped(authenticated) {
            refuse(.refused) { () throws(Failure) in
                try open(nonce + text + tag, authenticating: changed)
            }
        }
        for changed in withOneBitFlipped(Array(key.prefix(16))) {
            refuse(.refused) { () throws(Failure) in
                try open(nonce + text + tag, key: changed + key.suffix(16))
            }
        }
    }

    @Test func `bytes that go over from one part into another are refused`() {
        // As many bits are authenticated as the sender says, and no others.
        refuse(.refused) { () throws(Failure) in
            try open(
                Array((nonce + text + tag).dropFirst(16)),
                authenticating: authenticated + nonce)
        }
    }

    @Test func `what is not padded is refused though its tag is right`() {
        // Without the last block, what is last is a letter and no padding.
        let cut = nonce + text.dropLast(16)
        let bits = [UInt8](repeating: 0, count: 6) + [0x01, 0x50]
        let tag = HMACKey(Array(key.prefix(16))).authenticate(authenticated + cut + bits)
        refuse(.refused) { () throws(Failure) in try open(cut + tag.prefix(16)) }
    }

    @Test func `another length is malformed`() {
        let whole = nonce + text + tag
        for count in [0, 16, 31, 32, 33, 47, 49, whole.count - 1, whole.count + 1] {
            let sealed = Array((whole + [0]).prefix(count))
            refuse(.malformed) { () throws(Failure) in try open(sealed) }
        }
        for count in [0, 16, 31, 33, 64] {
            refuse(.malformed) { () throws(Failure) in
                try open(whole, key: [UInt8](repeating: 1, count: count))
            }
        }
    }
}
