import Glibc
import HTTP
import Testing

@testable import HTTPServer

/// Bytes that no handler may ever see, and what their sender gets.
struct BadRequest: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let status: Int

    init(_ name: String, _ text: String, _ status: Int) {
        self.init(name, Array(text.utf8), status)
    }

    init(_ name: String, _ bytes: [UInt8], _ status: Int) {
        self.name = name
        self.bytes = bytes
        self.status = status
    }

    var testDescription: String { name }
}

private func head(_ fields: String) -> String {
    "POST / HTTP/1.1\r\n\(fields)\r\n\r\n"
}

private let host = "Host: a\r\n"

private let badRequests: [BadRequest] = [
    BadRequest("no Host", head("A: b"), 400),
    BadRequest("two Hosts", head(host + "Host: a"), 400),
    BadRequest("two Hosts in other letters", head(host + "hOST: b"), 400),
    BadRequest("an empty Host", head("Host:"), 400),
    BadRequest("a Host with a path", head("Host: a/b"), 400),
    BadRequest("a Host with two names", head("Host: a, b"), 400),
    BadRequest("a Host with user info", head("Host: a@b"), 400),
    BadRequest(
        "two lengths of one value", head(host + "Content-Length: 0\r\nContent-Length: 0"), 400),
    BadRequest(
        "length and chunks",
        head(host + "Content-Length: 3\r\nTransfer-Encoding: chunked") + "0\r\n\r\n",
        400),
    BadRequest(
        "chunks and length",
        head(host + "Transfer-Encoding: chunked\r\nContent-Length: 3") + "0\r\n\r\n",
        400),
    BadRequest(
        "chunks twice",
        head(host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked") + "0\r\n\r\n", 400),
    BadRequest("a length with a sign", head(host + "Content-Length: +1") + "a", 400),
    BadRequest("a negative length", head(host + "Content-Length: -1"), 400),
    BadRequest("a length list", head(host + "Content-Length: 1, 1") + "a", 400),
    BadRequest("a length in hexadecimal", head(host + "Content-Length: 0x1") + "a", 400),
    BadRequest("an empty length", head(host + "Content-Length:"), 400),
    BadRequest("a length beyond all", head(host + "Content-Length: 99999999999999999999"), 413),
    BadRequest("a length of 2^63", head(host + "Content-Length: 9223372036854775808"), 413),
    BadRequest("another coding", head(host + "Transfer-Encoding: gzip"), 501),
    BadRequest("a coding before chunked", head(host + "Transfer-Encoding: gzip, chunked"), 501),
    BadRequest("a coding like chunked", head(host + "Transfer-Encoding: xchunked"), 501),
    BadRequest(
        "chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    BadRequest(
        "a chunk without a size", head(host + "Transfer-Encoding: chunked") + "zz\r\nab\r\n", 400),
    BadRequest(
        "a chunk beyond all",
        head(host + "Transfer-Encoding: chunked") + "ffffffffffffffffff\r\nab\r\n", 413),
    BadRequest("a space before the colon", head("Host : a"), 400),
    BadRequest("a header without a colon", head(host + "Bad"), 400),
    BadRequest("a header without a name", head(host + ": b"), 400),
    BadRequest("a space in a name", head(host + "A b: c"), 400),
    BadRequest("a control character in a name", head(host + "A\u{1}: c"), 400),
    BadRequest("a control character in a value", head(host + "A: b\u{2}"), 400),
    BadRequest("a carriage return in a value", head(host + "A: b\rC: d"), 400),
    BadRequest("a NUL in a value", head(host + "A: b\u{0}c"), 400),
    BadRequest("a NUL in the last value", head(host + "A: b\u{0}"), 400),
    BadRequest("a NUL in a name", head(host + "A\u{0}: b"), 400),
    BadRequest("a folded header", head(host + "A: b\r\n c\r\nD: e"), 400),
    BadRequest("a folded Host", head("Host: a\r\n b"), 400),
    BadRequest("line feeds alone", "GET / HTTP/1.1\nHost: a\n\n", 400),
    BadRequest("a line feed alone behind the first line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    BadRequest("a line feed alone behind a header", "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n", 400),
    BadRequest(
        "a line feed alone behind the last header", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
    BadRequest("a line feed alone for an empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
    BadRequest("two carriage returns", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400),
    BadRequest("a length of letters", head(host + "Content-Length: abc"), 400),
    BadRequest("a length with a space in it", head(host + "Content-Length: 1 1") + "a", 400),
    BadRequest(
        "two lengths of two values",
        head(host + "Content-Length: 1\r\nContent-Length: 2") + "ab", 400),
    BadRequest(
        "a good length before a bad one",
        head(host + "Content-Length: 1\r\nContent-Length: x") + "a", 400),
    BadRequest(
        "chunks and a bad length",
        head(host + "Transfer-Encoding: chunked\r\nContent-Length: x") + "0\r\n\r\n", 400),
    BadRequest(
        "a space behind chunked", head(host + "Transfer-Encoding: chunked ") + "0\r\n\r\n", 501),
    BadRequest("a NUL in the path", get("/a\u{0}b"), 400),
    BadRequest("a NUL at the end of the path", get("/a\u{0}"), 400),
    BadRequest("a NUL in the query", get("/?a\u{0}b"), 400),
    BadRequest("a NUL in the method", "GET\u{0}X / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    BadRequest("a control character in the path", get("/\u{1}"), 400),
    BadRequest("a tab in the path", get("/a\tb"), 400),
    BadRequest("a delete character in the path", get("/\u{7F}"), 400),
    BadRequest("a space in the path", get("/a b"), 400),
    BadRequest("a fragment", get("/#a"), 400),
    BadRequest("UTF-8 in the path", get("/ä"), 400),
    BadRequest(
        "bytes that are no UTF-8 in the path",
        Array("GET /".utf8) + [0xFF, 0xC0, 0x80] + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8), 400),
    BadRequest("a path without a slash", get("a"), 400),
    BadRequest("a star", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    BadRequest("a whole URL", get("http://a/b"), 400),
    BadRequest("no path", "GET HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    BadRequest("no version", "GET /\r\nHost: a\r\n\r\n", 400),
    BadRequest("version 2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    BadRequest("version 1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400),
    BadRequest("an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    BadRequest("an unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    BadRequest("a method in small letters", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    BadRequest("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    BadRequest("CONNECT", "CONNECT /a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
]

@Suite struct `A server refuses` {
    @Test(arguments: badRequests)
    func `a server refuses anything that is not exactly HTTP`(_ bad: BadRequest) async throws {
        let handler: Handler = { request in
            Issue.record("a handler saw \(request)")
            return Response(status: .ok)
        }
        try await withServer(handler: handler) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(bad.bytes)
                let reply = try client.receive()
                #expect(reply.status == bad.status)
                #expect(reply["Connection"] == "close")
                #expect(!reply.text.contains("HTTP/1.1"), "One head, and its body.")
                #expect(client.isClosedByServer(), "Nothing behind it.")
            }
        }
        // The same, in pieces: what is refused does not hang on how the bytes arrive.
        try await withServer(handler: handler) { server in
            let reply = try await offPool {
                let client = try Client(server.port)
                for byte in bad.bytes {
                    do { try client.send([byte]) } catch { break }
                }
                return try client.receive()
            }
            #expect(reply.status == bad.status)
            #expect(!reply.text.contains("HTTP/1.1"))
        }
    }

    @Test func `a server refuses a request with a problem document and closes`() async throws {
        try await withServer { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send("GET / HTTP/1.1\r\n\r\n" + get("/"))
                let reply = try client.receive()
                #expect(reply["Content-Type"] == "application/problem+json")
                #expect(reply["Cache-Control"] == "no-store")
                #expect(reply["X-Request-Id"]?.utf8.count == 16)
                #expect(
                    reply.text
                        == #"{"type":"about:blank","title":"Bad Request","status":400,"#
                        + #""detail":"The request must have exactly one valid Host header."}"#)
                #expect(client.isClosedByServer())
            }
            #expect(server.statistics.refused == 1)
            #expect(server.statistics.requests == 1)
        }
    }

    /// Others wait with half a head meanwhile, and are not taken for the one that is refused.
    @Test func `a server refuses an unreadable length, and only that request`() async throws {
        try await withServer(handler: echo) { server in
            try await offPool {
                let waiting = try (0..<20).map { _ in try Client(server.port) }
                for client in waiting { try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-") }
                let bad = try Client(server.port)
                try bad.send(head(host + "Content-Length: 1x"))
                #expect(try bad.receive().status == 400)
                for client in waiting {
                    try client.send("Length: 2\r\n\r\nok")
                    #expect(try client.receive().text.hasSuffix("\nok"))
                }
            }
            #expect(server.statistics.refused == 1)
        }
    }

    /// libmicrohttpd takes a line feed alone for the end of a line between chunks: whoever does not sees the
    /// body end elsewhere, and a request where this server sees none.
    @Test func `a server refuses chunk framing that could hide a second request (smuggling)`()
        async throws
    {
        try await withServer(handler: echo) { server in
            try await offPool {
                for size in ["1\r\n", "1\n", "1;x\n"] {
                    let client = try Client(server.port)
                    try client.send(
                        head(host + "Transfer-Encoding: chunked") + size + "a\r\n0\r\n\r\n"
                            + get("/smuggled"))
                    let reply = try client.receive()
                    #expect(reply.status == 200 && reply["Connection"] == "close")
                    #expect(client.isClosedByServer())
                }
            }
            #expect(server.statistics.requests == 3)
        }
    }

    @Test func `a server accepts requests that only look unusual`() async throws {
        try await withServer(handler: echo) { server in
            for text in [
                "\r\n\r\n" + get("/"),
                "GET /?? HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
                "GET //../%00 HTTP/1.1\r\nHost: a\r\n\r\n",
                "DELETE / HTTP/1.1\r\nHost: a\r\nX: ä~!\t\"\r\n\r\n",
                "GET / HTTP/1.0\r\nHost: a\r\n\r\n",
            ] {
                let status = try await ask(server.port, text).status
                #expect(status == 200)
            }
        }
    }

    /// RFC 6265 section 5.2 knows no malformed value, and any neighbour of a host can plant a cookie.
    @Test func `a server accepts cookies with quotation marks`() async throws {
        let odd = [
            #"a=""#, #"__Host-urd=""#, #"a=b"c"#, #"pref="x; b=1"#, #"a=b; c=""#, #"a=" ; z=1"#,
            #"a=""; b=""#, "a", "=", ";;,", "", #"a=""# + "\r\nCookie: b=\"",
        ]
        try await withServer(handler: echo) { server in
            try await offPool {
                let client = try Client(server.port)
                for cookie in odd {
                    try client.send(
                        "GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookie)\r\nZ: last\r\n\r\n")
                    let reply = try client.receive()
                    #expect(reply.status == 200, "\(cookie)")
                    let expected = "Cookie: \(cookie)".split(separator: "\r\n")
                        .map { $0.replacing("Cookie: ", with: "Cookie=", maxReplacements: 1) }
                    let fields = ["Host=a"] + expected + ["Z=last"]
                    let text = fields.joined(separator: "\n") + "\n"
                    #expect(reply.text.hasSuffix(text), "\(cookie)")
                }
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let text = try client.receive().text
                #expect(text.hasSuffix("\nHost=a\n"), "None comes of itself.")
            }
        }
    }

    @Test func `a server survives any bytes`() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = Linear(state: seed)
        let words = badRequests.map(\.bytes) + [Array(get("/").utf8), Array(post("abc").utf8)]
        let messages = (0..<300).map { _ -> [UInt8] in
            var bytes = (0..<3).flatMap { _ in words.randomElement(using: &generator) ?? [] }
            for _ in 0..<Int.random(in: 0..<8, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            return Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &generator)))
        }
        try await withServer(configured { $0.idleTimeout = .milliseconds(400) }) { server in
            try await offPool {
                for message in messages {
                    let client = try Client(server.port, patience: 5)
                    try? client.send(message)
                    shutdown(client.descriptor, Int32(SHUT_WR))
                    var end: Client.Trouble?
                    while end == nil {
                        do { _ = try client.receive() } catch { end = error as? Client.Trouble }
                    }
                    // Answered or not: nothing more can come, so the server hangs up.
                    #expect(end != .timeout, "\(String(decoding: message, as: UTF8.self))")
                }
            }
            let text = try await ask(server.port, get("/")).text
            #expect(text == "Hello", "seed \(seed)")
        }
    }
}

/// Repeatable from its seed.
private struct Linear: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
