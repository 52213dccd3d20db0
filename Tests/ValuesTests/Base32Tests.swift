import Testing
import Values

@Suite struct `Base 32` {
    /// RFC 4648 section 10, without its padding.
    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
        ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
    func `is written and read as in the RFC`(plain: String, text: String) {
        #expect(Base32.encode(Array(plain.utf8)) == text)
        #expect(Base32.decode(text) == Array(plain.utf8))
        #expect(Base32.decode(text.lowercased()) == Array(plain.utf8))
    }

    @Test func `comes back for every length and every byte`() {
        for length in 0..<70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length * 101) }
            let text = Base32.encode(bytes)
            #expect(text.utf8.count == (length * 8 + 4) / 5)
            #expect(Base32.decode(text) == bytes)
        }
    }

    @Test(arguments: [
        "M", "MZX", "MZXW6Y", "MZXW6YTBO", "MY======", "MZ", "MZXR", "MZXW7", "M Y", "M0", "M1",
        "M8",
        "MY\n", "ＭＹ", "M-",
    ])
    func `has one spelling for each value, but for its case`(text: String) {
        #expect(Base32.decode(text) == nil)
    }
}
