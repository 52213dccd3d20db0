import Testing
import Values

@Suite struct `Base 32` {
    /// RFC 4648 section 10, without its padding.
    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
        ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
    func `Base 32 equals the examples of RFC 4648`(plain: String, text: String) {
        #expect(Base32.encode(Array(plain.utf8)) == text)
        #expect(Base32.decode(text) == Array(plain.utf8))
        #expect(Base32.decode(text.lowercased()) == Array(plain.utf8))
    }

    @Test func `Base 32 survives every length and every byte`() {
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
    func `Base 32 has one spelling for each value, except for its case`(text: String) {
        #expect(Base32.decode(text) == nil)
    }
}
