import HTTP
import Testing

@Suite struct `A URL` {
    @Test func `a URL is split into all its parts`() throws {
        let url = try #require(
            URLParts.parse("HTTPS://User:pw@App.Example.COM:8443/a/%7Eb;c?x=1&y=/?#frag/?"))
        #expect(url.scheme == "https")
        #expect(url.hasUserInfo)
        #expect(url.host == "app.example.com")
        #expect(url.address == nil)
        #expect(url.port == 8443)
        #expect(url.effectivePort == 8443)
        #expect(url.path == "/a/%7Eb;c")
        #expect(url.query == "x=1&y=/?")
        #expect(url.fragment == "frag/?")
    }

    @Test func `a URL's empty part is told from a missing one`() throws {
        let bare = try #require(URLParts.parse("https://a.example"))
        #expect(bare.path.isEmpty && bare.query == nil && bare.fragment == nil && bare.port == nil)
        #expect(!bare.hasUserInfo)
        #expect(bare.effectivePort == 443)
        let empty = try #require(URLParts.parse("http://@a.example/?#"))
        #expect(empty.path == "/" && empty.query == "" && empty.fragment == "")
        #expect(empty.hasUserInfo)
        #expect(empty.effectivePort == 80)
    }

    @Test func `a URL of an app's private scheme needs no authority`() throws {
        let app = try #require(URLParts.parse("com.example.app:/oauth2redirect"))
        #expect(app.scheme == "com.example.app")
        #expect(app.host == nil)
        #expect(app.path == "/oauth2redirect")
        #expect(app.effectivePort == nil)
        let name = try #require(URLParts.parse("urn:ietf:wg:oauth:2.0:oob"))
        #expect(name.path == "ietf:wg:oauth:2.0:oob")
        let other = try #require(URLParts.parse("com.example.app://callback"))
        #expect(other.host == "callback")
        #expect(other.path.isEmpty)
    }

    @Test(arguments: [
        ("https://a.example", "/"), ("https://a.example/", "/"), ("com.example.app:", ""),
        ("https://a.example/%7eb/%C3%a9", "/~b/%C3%A9"), ("https://a.example/A/b/", "/A/b/"),
        ("https://a.example/%2fb%25%3A:", "/%2Fb%25%3A:"), ("https://a.example//b", "//b"),
        ("https://a.example/a/../b/./%2E%2e", "/a/../b/./.."), ("https://a.example?x#y", "/"),
    ])
    func `a URL's equivalent paths are normalised to one`(text: String, path: String) throws {
        #expect(try #require(URLParts.parse(text)).normalPath == path)
    }

    @Test(arguments: [
        ("http://127.0.0.1:49152/cb", "127.0.0.1", true),
        ("http://127.255.0.9/", "127.255.0.9", true),
        ("http://[::1]:8080/cb", "::1", true),
        ("http://[0:0:0:0:0:0:0:1]/", "::1", true),
        ("http://localhost/cb", "localhost", false),
        ("http://10.0.0.1/", "10.0.0.1", false),
        ("http://[2001:DB8::8:800:200C:417A]/", "2001:db8::8:800:200c:417a", false),
        ("http://[::ffff:127.0.0.1]/", "::ffff:7f00:1", false),
        ("http://127.0.0.1.example/", "127.0.0.1.example", false),
        ("http://a_b.xn--bcher-kva.example/", "a_b.xn--bcher-kva.example", false),
        ("http://1.2.3.4.5x/", "1.2.3.4.5x", false),
    ])
    func `a URL's loopback address is told from a name`(
        text: String, host: String, isLoopback: Bool
    ) throws {
        let url = try #require(URLParts.parse(text))
        #expect(url.host == host)
        #expect(url.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "https://good.example@evil.example/",
        "https://good.example:443@evil.example/",
        "https://@evil.example/",
        "https://good.example%2F@evil.example/",
    ])
    func `a URL's host is told from a misleading user name`(text: String) throws {
        let url = try #require(URLParts.parse(text))
        #expect(url.hasUserInfo)
        #expect(url.host == "evil.example")
    }
}

@Suite struct `No URL` {
    @Test(arguments: [
        "https://good.example\\@evil.example/", "https:\\\\evil.example",
        "https://a@b@evil.example/",
        "https://good.example%40evil.example/", "https://good.example%2Fevil.example/",
        "https://good.example%00.evil.example/", "https://good.example /", "https:// evil.example/",
        "https://good.example\t/", "https://good.example\r\n/", "https://good\u{0}.example/",
        "https://[good.example]/", "https://good.example[::1]/", "https://[::1]evil.example/",
        "https://[::1/", "https://::1/", "https://]/", "https://[::1]]/", "https://[]/",
        "https://[::1%25eth0]/", "https://[::1%eth0]/", "https://[v1.fe80]/",
        "https://[127.0.0.1]/",
        "https://a|b.example/", "https://a,b.example/", "https://a;b.example/",
        "https://é.example/",
        "https://a\u{3002}example/", "https://good.example\u{FF0F}@evil.example/",
        "https://*.example/",
        "https://us[er@a.example/", "https://us%4er@a.example/x%", "https://us%zz@a.example/",
    ])
    func `a URL with an ambiguous authority is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test(arguments: [
        "https://a.example:/", "https://a.example:0/", "https://a.example:080/",
        "https://a.example:65536/", "https://a.example:99999/", "https://a.example:8o/",
        "https://a.example:80:80/", "https://a.example:-1/", "https://a.example:+80/",
        "https://a.example: 80/", "https://a.example:80 /", "https://a.example:443a",
        "https://a.example:18446744073709551697/", "https://[::1]:/",
    ])
    func `a URL with an ambiguous or empty port is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test(arguments: [
        "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/",
        "http://0177.0.0.1/", "http://127.0.0.01/", "http://127.0.0.256/", "http://127.0.0.1./",
        "http://127.0.0/", "http://1.2.3.4.5/", "http://a.0x1/", "http://a.123/", "http://0x/",
        "http://0X7F.1/", "http://256.256.256.256/", "http://a.0x./",
    ])
    func `a URL whose host is almost an address is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test(arguments: [
        "https://", "https:///", "https:///path", "https://?x", "https://#x", "https://:80/",
        "https://user@/", "https://./", "https://a..example/", "https://.a.example/",
        "https://a.example./", "https:a.example", "https:/a.example", "http:",
    ])
    func `a web URL without a whole host is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test(arguments: [
        "", ":", "/path", "//a.example/", "a.example/", "?x", "#x", "1http://a.example/",
        "+http://a.example/", "ht tp://a.example/", "http//a.example:80/", "://a.example/",
        " https://a.example/", "\nhttps://a.example/", "https\u{0}://a.example/", "hé:/x",
        "java\nscript:alert(1)", "../x:y",
    ])
    func `a URL that is relative or has no scheme is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test(arguments: [
        "https://a.example/a b", "https://a.example/%", "https://a.example/%4",
        "https://a.example/%zz",
        "https://a.example/\"", "https://a.example/<x>", "https://a.example/a\\b",
        "https://a.example/^", "https://a.example/`", "https://a.example/{x}",
        "https://a.example/a|b",
        "https://a.example/[x]", "https://a.example/é", "https://a.example/?a b",
        "https://a.example/?%2", "https://a.example/?[x]", "https://a.example/#a#b",
        "https://a.example/#%", "https://a.example/\u{7F}", "https://a.example/\u{0}",
        "https://a.example/\r\nSet-Cookie:x", "javascript:alert('<x>')",
    ])
    func `a URL with a character that must be escaped is refused`(text: String) {
        #expect(URLParts.parse(text) == nil)
    }

    @Test func `a URL over the length limit is refused`() {
        let url = "https://a.example/" + String(repeating: "a", count: 8192)
        #expect(URLParts.parse(String(url.prefix(8192))) != nil)
        #expect(URLParts.parse(String(url.prefix(8193))) == nil)
        let label = String(repeating: "a", count: 63)
        #expect(URLParts.parse("https://\(label).example/") != nil)
        #expect(URLParts.parse("https://a\(label).example/") == nil)
        #expect(URLParts.parse("https://\(label).\(label).\(label).\(label)/") == nil)
    }
}

@Suite struct `An IP address` {
    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
        ("::1", "::1"), ("1::", "1::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("2001:0DB8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("1::8", "1::8"), ("::ffff:1.2.3.4", "::ffff:102:304"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
        ("fe80::1", "fe80::1"), ("0:0:0:0:0:0:0:0", "::"), ("1:0:0:0:0:0:0:0", "1::"),
    ])
    func `an IP address is written in one spelling`(text: String, expected: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == expected)
        #expect(IPAddress(expected) == address)
        #expect(address.isIPv6 == text.contains(":"))
    }

    @Test(arguments: [
        "", ".", ":", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "01.2.3.4",
        "1.2.3.04",
        "256.1.1.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.-4", "1.2.3.+4", "1.2.3.0x4",
        "1.2.3.999999999999",
        ":::", "::1::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8", ":1::", "1:::2", "1:", ":1", "12345::", "g::", "::1.2.3",
        "::1.2.3.4:5",
        "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "::1%eth0", "[::1]", "::1/64", "::-1", "::+1",
        "١.2.3.4",
        "0000000000000000000000000000000000000000000000::1",
    ])
    func `an IP address in a doubtful spelling is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }
}
