import HTTP
import Testing

@Suite struct `Percent-encoding` {
    @Test(arguments: [
        ("", ""), ("a", "a"), ("a%20b", "a b"), ("a+b", "a+b"), ("%41%7a", "Az"), ("%2F%2f", "//"),
        ("%C3%A9", "é"), ("é", "é"), ("%25", "%"), ("%2525", "%25"), ("%00", "\u{0}"),
        ("%F0%9F%98%80", "😀"),
    ])
    func `percent-encoding is decoded once`(text: String, expected: String) {
        #expect(Percent.decode(text) == expected)
    }

    @Test(arguments: [
        "%", "%4", "a%", "%%41", "%4g", "%g4", "% 41", "%+1", "%u0041", "%0x", "%é", "%-1", "%４１",
        "%FF", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "%F4%90%80%80", "%E2%82x",
    ])
    func `percent-encoding is refused when it is malformed or not UTF-8`(text: String) {
        #expect(Percent.decode(text) == nil)
    }

    @Test func `percent-encoding leaves letters, digits and four marks`() {
        #expect(Percent.encode("azAZ09-._~") == "azAZ09-._~")
        #expect(Percent.encode(" +/?&=#%\"é\u{0}") == "%20%2B%2F%3F%26%3D%23%25%22%C3%A9%00")
        #expect(Percent.encode("") == "")
    }
}

@Suite struct `A form` {
    @Test(
        arguments: [
            ("", []),
            ("a=1", ["a", "1"]),
            ("a=1&b=2", ["a", "1", "b", "2"]),
            ("a=1&a=2", ["a", "1", "a", "2"]),
            ("a", ["a", ""]),
            ("a=", ["a", ""]),
            ("=a", ["", "a"]),
            ("=", ["", ""]),
            ("a=b=c", ["a", "b=c"]),
            ("&&a=1&&b=2&", ["a", "1", "b", "2"]),
            ("a+b=c+d", ["a b", "c d"]),
            ("a b=c d", ["a b", "c d"]),
            ("a%2Bb=c%26d%3De", ["a+b", "c&d=e"]),
            ("a%3D=1", ["a=", "1"]),
            ("a;b=1", ["a;b", "1"]),
            ("n=%C3%A9&m=é", ["n", "é", "m", "é"]),
            ("a%00=%0D%0A", ["a\u{0}", "\r\n"]),
            ("[]=1&a[b]=2", ["[]", "1", "a[b]", "2"]),
            (
                "redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Fx%3D1",
                ["redirect_uri", "https://a.example/cb?x=1"]
            ),
        ] as [(String, [String])])
    func `a form is read pair by pair without merging`(text: String, expected: [String]) throws {
        let pairs = try #require(Form.parse(Array(text.utf8)))
        #expect(pairs.flatMap { [$0.name, $0.value] } == expected)
        let again = try #require(Form.parse(text))
        #expect(again.flatMap { [$0.name, $0.value] } == expected)
    }

    @Test(arguments: [
        "a=%", "a=%4", "%=a", "a=%zz", "a=%FF", "%C3=a", "a=1&b=%", "a=1\r\n", "a=\t",
        "a=1\n&b=2", "a\u{0}=1", "a=\u{7F}",
    ])
    func `a form is refused when it is malformed`(text: String) {
        #expect(Form.parse(text) == nil)
    }

    @Test func `a form with a raw byte outside UTF-8 is refused`() {
        #expect(Form.parse([0x61, 0x3D, 0xFF]) == nil)
        #expect(Form.parse([0x61, 0x3D, 0xC3, 0x26, 0xA9, 0x3D]) == nil)
    }

    @Test func `a form over its limits is refused`() {
        let pairs = Array(repeating: "a=1", count: 256).joined(separator: "&")
        #expect(Form.parse(pairs)?.count == 256)
        #expect(Form.parse(pairs + "&a=1") == nil)
        #expect(Form.parse("a=1&b=2", maximumPairs: 1) == nil)
        #expect(Form.parse("a=123", maximumBytes: 5)?.count == 1)
        #expect(Form.parse("a=1234", maximumBytes: 5) == nil)
        let ampersands = [UInt8](repeating: 0x26, count: 100_000)
        #expect(Form.parse(ampersands)?.isEmpty == true)
    }

    @Test func `a form is written as browsers write it`() {
        #expect(Form.encode([]) == "")
        #expect(Form.encode([("a b", "c&d"), ("é", "*-._~+")]) == "a+b=c%26d&%C3%A9=*-._%7E%2B")
    }
}
