import HTTP
import LogTesting
import Testing

@testable import API

@Suite struct `A network` {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("10.0.0.0/8", "::a00:1", false),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
        ("192.0.2.128/25", "192.0.2.200", true), ("192.0.2.128/25", "192.0.2.100", false),
        ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "::1", false), ("::/0", "::1", true),
        ("::/0", "1.2.3.4", false), ("2001:db8::/33", "2001:db8:7fff::1", true),
        ("2001:db8::/33", "2001:db8:8000::1", false), ("::1", "::1", true),
    ])
    func `a network contains the addresses of its prefix`(
        _ text: String, _ address: String, _ holds: Bool
    ) throws {
        let network = try #require(Network(text))
        #expect(network.contains(try #require(IPAddress(address))) == holds)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/+8",
        "10.0.0.1/8", "10.0.0/8", "::/129", "::1/64", "::ffff:10.0.0.0/104", "example.com",
        "10.0.0.0/8/8", "10.0.0.0/999999999999999999999", " 10.0.0.0/8", "[::1]",
    ])
    func `a malformed network is refused`(_ text: String) {
        #expect(Network(text) == nil)
        if !text.isEmpty && !text.hasPrefix(" ") {
            #expect(Network.list("10.0.0.1,\(text)") == nil)
        }
    }

    @Test func `networks are read from a list`() {
        #expect(Network.list("")?.isEmpty == true)
        #expect(Network.list("10.0.0.0/8, ::1")?.map(\.description) == ["10.0.0.0/8", "::1/128"])
    }
}

@Suite struct `A request's host` {
    @Test(
        arguments: [
            ("example.com", "example.com", nil), ("EXAMPLE.Com:8080", "example.com", 8080),
            ("localhost", "localhost", nil), ("127.0.0.1:1", "127.0.0.1", 1),
            ("[::1]:8080", "[::1]", 8080), ("[0:0::1]", "[::1]", nil),
            ("xn--bcher-kva.example:443", "xn--bcher-kva.example", 443),
        ] as [(String, String, UInt16?)])
    func `a request's host is read as a lower-case name and a port`(
        _ text: String, _ name: String, _ port: UInt16?
    ) throws {
        let host = try #require(RequestHost(text))
        #expect(host.name == name)
        #expect(host.port == port)
    }

    @Test(arguments: [
        "", " ", ".", "example.com.", ".example.com", "a..b", "-a.example", "a_b.example",
        "user@example.com", "example.com:", "example.com:0", "example.com:080",
        "example.com:65536", "example.com:+80", "example.com:80:80", "example.com/", "a b",
        "a,b", "exämple.com", "ｅxample.com", "\u{212A}elvin.example", "example.com\u{0}",
        "[::1", "::1", "[::1]x", "[::1]:", "[127.0.0.1]", "[]", "]", ":80", "a:b",
        String(repeating: "a", count: 64) + ".example", String(repeating: "a.", count: 140) + "b",
    ])
    func `a malformed host is refused`(_ text: String) {
        #expect(RequestHost(text) == nil)
    }
}

@Suite struct `Forwarding headers` {
    private let proxied: Forwarding

    init() throws {
        proxied = Forwarding(trusted: try #require(Network.list("10.0.0.0/8, ::1")))
    }

    @Test func `a forwarding header that only resembles a known one is refused`() throws {
        let forwarding = Forwarding()
        func ask(_ host: String) throws(Problem) -> Arrival {
            let request = Request(
                method: .get, path: "/", headers: ["Host": host], source: "192.0.2.1")
            return try forwarding.arrival(of: request)
        }
        #expect(try ask("K.example").host.name == "k.example")
        // The sign of the kelvin, which Unicode takes for the letter.
        #expect(throws: Problem.self) { try ask("\u{212A}.example") }
    }

    private func arrival(
        _ headers: [(String, String)], from source: String = "10.0.0.1",
        host: String? = "in.example", _ forwarding: Forwarding? = nil
    ) throws(Problem) -> Arrival {
        var request = Request(method: .get, path: "/", source: source)
        request.headers["Host"] = host
        for (name, value) in headers { request.headers.append(name, value) }
        return try (forwarding ?? proxied).arrival(of: request)
    }

    private func refusal(
        _ headers: [(String, String)], host: String? = "in.example"
    ) -> ProblemKind? {
        do {
            _ = try arrival(headers, host: host)
            return nil
        } catch {
            return error.kind
        }
    }

    private let claims = [
        ("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
    ]

    @Test(arguments: ["192.0.2.1", "11.0.0.1", "", "unix", "::2"])
    func `a forwarding header is ignored from an address that is not trusted`(_ source: String)
        throws
    {
        let arrival = try arrival(
            claims + [("Forwarded", "for=198.51.100.1;host=evil.example")], from: source)
        #expect(arrival.host.name == "in.example")
        #expect(arrival.scheme == .http)
        #expect(arrival.address == source)
    }

    @Test func `no proxy is trusted by default`() throws {
        let arrival = try arrival(claims, from: "127.0.0.1", Forwarding(scheme: .https))
        #expect(arrival.host.name == "in.example")
        #expect(arrival.scheme == .https)
        #expect(arrival.address == "127.0.0.1")
    }

    @Test func `a forwarding header of a trusted proxy is believed`() throws {
        for source in ["10.0.0.1", "::ffff:10.0.0.1", "::1"] {
            let arrival = try arrival(claims, from: source)
            #expect(arrival.host.name == "evil.example")
            #expect(arrival.scheme == .https)
            #expect(arrival.address == "198.51.100.1")
        }
    }

    @Test(arguments: [
        ("198.51.100.1", "198.51.100.1"), ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("1.1.1.1,198.51.100.1,10.0.0.3,10.0.0.2", "198.51.100.1"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"), ("garbage, 198.51.100.1", "198.51.100.1"),
        ("198.51.100.1, garbage", "10.0.0.1"), ("198.51.100.1, garbage, 10.0.0.2", "10.0.0.2"),
        ("198.51.100.1,", "10.0.0.1"), ("unknown", "10.0.0.1"), ("", "10.0.0.1"),
        ("198.51.100.1:4711", "198.51.100.1"), ("[2001:db8::1]:4711", "2001:db8::1"),
        ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:198.51.100.1", "198.51.100.1"),
        ("198.51.100.1, ::ffff:10.0.0.2", "198.51.100.1"), ("198.51.100.1:x", "10.0.0.1"),
        ("[198.51.100.1]", "10.0.0.1"), ("[2001:db8::1", "10.0.0.1"), ("0198.51.100.1", "10.0.0.1"),
    ])
    func `forwarded addresses are read from the right to the first untrusted one`(
        _ line: String, _ address: String
    ) throws {
        #expect(try arrival([("X-Forwarded-For", line)]).address == address)
    }

    @Test func `several lines of a forwarding header are read as one`() throws {
        let arrival = try arrival([
            ("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "198.51.100.1, 10.0.0.9"),
        ])
        #expect(arrival.address == "198.51.100.1")
    }

    @Test func `the Forwarded header of RFC 7239 is read`() throws {
        let arrival = try arrival([
            (
                "Forwarded",
                #"for=1.1.1.1;host=evil.example, For="[2001:db8::1]:47";Proto=HTTPS;host="#
                    + #""out.example:8443";by=10.0.0.2, for=10.0.0.2;proto=http;host=mid.example"#
            )
        ])
        #expect(arrival.address == "2001:db8::1")
        #expect(arrival.scheme == .https)
        #expect(arrival.host == RequestHost("out.example:8443"))
        #expect(try self.arrival([("Forwarded", "for=unknown")]).address == "10.0.0.1")
        #expect(try self.arrival([("Forwarded", "for=1.1.1.1, for=_x")]).address == "10.0.0.1")
        #expect(try self.arrival([("Forwarded", "proto=https")]).scheme == .https)
        #expect(try self.arrival([("Forwarded", #"host="a\.example""#)]).host.name == "a.example")
    }

    @Test(arguments: [
        ",", "for", "for=", "for=1.1.1.1,", "for=1.1.1.1;", "for=1.1.1.1;for=2.2.2.2",
        "for = 1.1.1.1", "for=1.1.1.1 for=2.2.2.2", "for=\"1.1.1.1", "for=\"1.1.1.1\\",
        "for=2001:db8::1", "for=\"[::1\"", "for=1.1.1", "=1.1.1.1", "for=\"\"", "proto=gopher",
    ])
    func `a malformed Forwarded header is refused`(_ line: String) {
        #expect(refusal([("Forwarded", line)]) == .malformedForwarding, "\(line)")
    }

    @Test func `an empty forwarding header counts as absent`() throws {
        let arrival = try arrival([
            ("Forwarded", ""), ("X-Forwarded-Host", ""), ("X-Forwarded-Proto", ""),
            ("X-Forwarded-For", "198.51.100.1"),
        ])
        #expect(arrival.host.name == "in.example")
        #expect(arrival.scheme == .http)
        #expect(arrival.address == "198.51.100.1")
    }

    @Test func `contradicting forwarding headers are refused`() throws {
        #expect(
            refusal([("X-Forwarded-For", "1.1.1.1"), ("Forwarded", "for=2.2.2.2")])
                == .malformedForwarding)
        #expect(
            refusal([("X-Forwarded-Host", "a.example"), ("Forwarded", "host=b.example")])
                == .malformedForwarding)
        let both = try arrival([("X-Forwarded-For", "1.1.1.1"), ("Forwarded", "for=1.1.1.1")])
        #expect(both.address == "1.1.1.1")
        #expect(
            refusal([("X-Forwarded-Host", "a.example, b.example")]) == .malformedForwarding)
        #expect(
            refusal([("X-Forwarded-Proto", "https"), ("X-Forwarded-Proto", "http")])
                == .malformedForwarding)
        #expect(refusal([("X-Forwarded-Proto", "ftp")]) == .malformedForwarding)
    }

    @Test func `a malformed forwarded host is refused, also from a trusted proxy`() {
        #expect(refusal([], host: nil) == .malformedHost)
        #expect(refusal([], host: "a_b") == .malformedHost)
        #expect(refusal([("Host", "second.example")]) == .malformedHost)
        #expect(refusal([("X-Forwarded-Host", "a/b")]) == .malformedHost)
        #expect(refusal([("Forwarded", #"host="a@b""#)]) == .malformedHost)
    }

    @Test(arguments: [UInt64](1...20))
    func `any bytes in a forwarding header are refused or read without harm`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "for", "=", "\"", "\\", ",", ";", "[", "]", ":", "1.1.1.1", "::1", "10.0.0.2", "host",
            "proto", "https", "a.example", " ", "\t", "unknown", "_x", "ä", "255", ".",
        ]
        for _ in 0..<300 {
            func noise() -> String {
                (0..<Int.random(in: 0...12, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }.joined()
            }
            let kind = refusal(
                [("Forwarded", noise()), ("X-Forwarded-For", noise())], host: noise())
            #expect(kind == nil || kind == .malformedHost || kind == .malformedForwarding)
        }
    }
}
