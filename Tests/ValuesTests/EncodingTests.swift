import Testing
import Values

@Suite struct `Base 64` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `Base 64 equals the vectors of RFC 4648`(text: String, encoded: String) {
        let bytes = Array(text.utf8)
        let unpadded = String(encoded.prefix { $0 != "=" })
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        #expect(Base64URL.encode(bytes) == unpadded)
        #expect(Base64URL.decode(unpadded) == bytes)
    }

    @Test func `Base 64 for URLs differs in two digits`() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xBE, 0xFF, 0xFF, 0xFF]
        #expect(Base64.encode(bytes) == "++++////")
        #expect(Base64URL.encode(bytes) == "----____")
        #expect(Base64.decode("----____") == nil)
        #expect(Base64URL.decode("++++////") == nil)
    }

    @Test(arguments: [
        "A", "AA=", "AA==", "AAA=", "=", "====", "AAAAA", "A A", " AA", "AA ", "AA\n", "AA\r\n",
        "A\tA", "AB", "AAB", "Zh", "Zm9", "AA%3D", "é", "AAé", "A\u{0}", "AA.", "QQ\u{301}", "Ａ",
    ])
    func `Base 64 for URLs refuses padding, whitespace and second spellings`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=", "AAA==", "A===", "====", "=", "==", "AAAA====", "AA==AAAA",
        "AB==", "AAB=", "AA= =", "AA==\n", "\nAA==", "A=A=", "=AAA", "AAAA=", "AA\u{0}=",
    ])
    func `Base 64 refuses missing or surplus padding, whitespace and second spellings`(text: String)
    {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `Base 64 has exactly one spelling for every pair of bytes`() {
        for value in UInt16.min...UInt16.max {
            let bytes = [UInt8(value >> 8), UInt8(value & 0xFF)]
            let encoded = Base64URL.encode(bytes)
            #expect(Base64URL.decode(encoded) == bytes)
        }
        var read = 0
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        for first in digits {
            for second in digits where Base64URL.decode(String([first, second])) != nil {
                read += 1
            }
        }
        #expect(read == 256)
    }

    @Test func `Base 64 survives bytes of any length`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(brokenEncodingProperty(of: bytes) == nil, "seed \(seed)")
        }
    }
}

@Suite struct `Base 16` {
    @Test func `Base 16 is written in lower case and read in either`() {
        #expect(Hex.encode([0x00, 0x0F, 0xA9, 0xFF]) == "000fa9ff")
        #expect(Hex.decode("000FA9fF") == [0x00, 0x0F, 0xA9, 0xFF])
        #expect(Hex.encode([]) == "")
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "000", "0g", "G0", "0x00", " 00", "00 ", "0\n", "+1", "-1", "é", "００"])
    func `Base 16 refuses other characters and half a byte`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
