import Cryptography
import Identity
import Testing
import Values

@testable import API

/// How apps of the verify profile write keys and signatures.
@Suite struct `Keys of devices as apps write them` {
    private let spki: [UInt8]
    private let raw: [UInt8]

    init() throws {
        spki = try ES256.PrivateKey.generate().publicKey.spki
        raw = try Ed25519.PrivateKey.generate().publicKey.bytes
    }

    private func broken(_ text: String, _ columns: Int) -> String {
        var lines = ""
        for (position, digit) in text.enumerated() {
            if position > 0, position.isMultiple(of: columns) { lines += "\r\n" }
            lines.append(digit)
        }
        return lines + "\n"
    }

    @Test func `lines may be broken and either alphabet may be filled up`() {
        for bytes in [spki, raw, Array(0...255)] {
            let text = Base64.encode(bytes)
            let url = Base64URL.encode(bytes)
            let filled = url + String(repeating: "=", count: (4 - url.utf8.count % 4) % 4)
            for written in [text, url, filled, broken(text, 64), broken(filled, 76)] {
                #expect(DeviceSignature.bytes(written) == bytes, "\(written)")
            }
        }
    }

    @Test(arguments: ["A", "AA=", "AAAA=", "AA===", "A\u{B}AAA", "-A+A", "AB", "=", "AA==AAAA"])
    func `what is not base64 is no key`(text: String) {
        #expect(DeviceSignature.bytes(text) == nil)
    }

    @Test func `a key is looked up by its base64 and by base64 of that`() {
        for text in [Base64.encode(spki), Base64URL.encode(spki), broken(Base64.encode(spki), 76)] {
            #expect(DeviceSignature.lookedUp(text) == [spki])
            for twice in [Base64.encode(Array(text.utf8)), Base64URL.encode(Array(text.utf8))] {
                #expect(DeviceSignature.lookedUp(twice) == [Array(text.utf8), spki])
                // It enrols nothing.
                #expect(DeviceSignature.key(twice, .ecdsa) == nil)
            }
        }
    }

    @Test func `the form of a key tells its algorithm`() {
        #expect(DeviceSignature.algorithm(ofKey: Base64.encode(spki)) == .ecdsa)
        #expect(DeviceSignature.algorithm(ofKey: Base64.encode(raw)) == .ed25519)
        #expect(DeviceSignature.algorithm("EC") == .ecdsa)
        #expect(DeviceSignature.algorithm("voice") == nil)
    }
}
