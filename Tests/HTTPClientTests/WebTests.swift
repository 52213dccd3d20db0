import Foundation
import HTTP
import Testing

@testable import HTTPClient

private func client(
    _ change: (inout Configuration) -> Void = { _ in }
) throws -> WebClient {
    var configuration = Configuration()
    configuration.timeout = .seconds(20)
    change(&configuration)
    return try WebClient(configuration)
}

private func code(
    _ client: WebClient, _ request: OutgoingRequest
) async -> Failure.Code? {
    do throws(Failure) {
        _ = try await client.send(request)
        return nil
    } catch {
        return error.code
    }
}

private struct Echo: Decodable {
    let method: String
    let target: String
    let headers: [[String]]
    let body: String
    let connection: Int

    init(_ response: Response) throws {
        self = try JSONDecoder().decode(Echo.self, from: Data(response.body))
    }

    func all(_ name: String) -> [String] { headers.filter { $0[0] == name }.map { $0[1] } }
}

@Suite struct `A call over HTTP` {
    private let server: ChildServer
    private var base: String { "http://127.0.0.1:\(server.port)" }

    init() throws { server = try ChildServer("http_server.py") }

    @Test(arguments: HTTP.Method.allCases)
    func `a call over HTTP sends what it was given`(method: HTTP.Method) async throws {
        let hasBody = method != .get && method != .head
        let request = OutgoingRequest(
            method: method, url: base + "/echo/a%2Fb/../c?x=1&y=%00#part",
            headers: ["X-One": "1", "X-Empty": "", "Content-Type": "text/plain"],
            body: hasBody ? Array("a\0b\r\nc".utf8) : nil)
        let response = try await client().send(request)
        #expect(response.status == .ok)
        #expect(response.headers["content-type"] == "application/json")
        guard method != .head else {
            #expect(response.body.isEmpty)
            return
        }
        let echo = try Echo(response)
        #expect(echo.method == method.rawValue)
        #expect(echo.target == "/echo/a%2Fb/../c?x=1&y=%00")
        #expect(echo.all("x-one") == ["1"])
        #expect(echo.all("x-empty") == [""])
        #expect(echo.all("content-type") == ["text/plain"])
        #expect(echo.body == (hasBody ? "a\0b\r\nc" : ""))
        let expected: Set = ["host", "x-one", "x-empty", "content-type", "content-length"]
        #expect(Set(echo.headers.map { $0[0] }).isSubset(of: expected))
    }

    @Test func `a call over HTTP sends an empty body with its length and a large one whole`()
        async throws
    {
        let client = try client { $0.maximumBodyBytes = 4 << 20 }
        let empty = try await Echo(
            client.send(OutgoingRequest(method: .post, url: base + "/echo")))
        #expect(empty.all("content-length") == ["0"])
        #expect(empty.all("content-type") == [])
        let large = [UInt8](repeating: 0x61, count: 2 << 20)
        let echo = try await Echo(
            client.send(OutgoingRequest(method: .put, url: base + "/echo", body: large)))
        #expect(echo.body.utf8.count == large.count)
    }

    @Test func `a call over HTTP reuses connections`() async throws {
        let client = try client { $0.threads = 1 }
        var connections: Set<Int> = []
        for _ in 0..<5 {
            let echo = try await Echo(client.send(OutgoingRequest(url: base + "/echo")))
            connections.insert(echo.connection)
        }
        #expect(connections.count == 1)
    }

    /// libcurl repeats what it sent over a connection that it had kept, where the server closes that.
    @Test func `a call over HTTP that must come once comes once`() async throws {
        let client = try client { $0.threads = 1 }
        _ = try await client.send(OutgoingRequest(url: base + "/echo"))
        var request = OutgoingRequest(method: .post, url: base + "/closing", body: [0x61])
        request.isSentOnce = true
        #expect(await code(client, request) == .broken)
        let count = try await client.send(OutgoingRequest(url: base + "/closing/count"))
        #expect(String(decoding: count.body, as: UTF8.self) == "1")
    }

    @Test func `a call over HTTP returns a response of any status`() async throws {
        for status in [204, 302, 404, 500, 503] {
            let response = try await client().send(OutgoingRequest(url: base + "/status/\(status)"))
            #expect(response.status.code == status)
        }
    }

    @Test func `a call over HTTP refuses a response over the limit`() async throws {
        let client = try client { $0.maximumBodyBytes = 1000 }
        for path in ["bytes", "stream"] {
            let response = try await client.send(OutgoingRequest(url: base + "/\(path)/1000"))
            #expect(response.body.count == 1000)
            #expect(await code(client, OutgoingRequest(url: base + "/\(path)/1001")) == .tooLarge)
            #expect(
                await code(client, OutgoingRequest(url: base + "/\(path)/90000000")) == .tooLarge)
        }
        #expect(await code(client, OutgoingRequest(url: base + "/headers/70")) == .tooLarge)
        let head = try await client.send(
            OutgoingRequest(method: .head, url: base + "/bytes/5000"))
        #expect(head.body.isEmpty)
        #expect(head.headers["Content-Length"] == "5000")
    }

    @Test func `a call over HTTP decompresses nothing and ignores trailers`() async throws {
        let packed = try await client().send(OutgoingRequest(url: base + "/gzip"))
        #expect(packed.body.count < 1000)
        #expect(packed.headers["Content-Encoding"] == "gzip")
        let trailed = try await client().send(OutgoingRequest(url: base + "/trailer"))
        #expect(trailed.body == Array("abc".utf8))
        #expect(trailed.headers.all("X-Who") == ["head"])
        #expect(trailed.headers["X-More"] == nil)
    }

    @Test(arguments: ["/hang", "/drip"])
    func `a call over HTTP ends at its deadline`(path: String) async throws {
        let client = try client { $0.timeout = .milliseconds(500) }
        let started = ContinuousClock.now
        #expect(await code(client, OutgoingRequest(url: base + path)) == .timeout)
        #expect(ContinuousClock.now - started < .seconds(20))
        var short = OutgoingRequest(url: base + path)
        short.timeout = .milliseconds(50)
        #expect(await code(client, short) == .timeout)
    }

    @Test(arguments: ["/short", "/garbage", "/headless", "/cut"])
    func `a call over HTTP reports a malformed response`(path: String) async throws {
        #expect(await code(try client(), OutgoingRequest(url: base + path)) == .broken)
    }

    @Test func `a call over HTTP reports an unreachable host`() async throws {
        #expect(
            await code(try client(), OutgoingRequest(url: "http://127.0.0.1:1/")) == .unreachable)
        #expect(
            await code(try client(), OutgoingRequest(url: "http://nobody.invalid/"))
                == .unknownHost)
    }

    @Test func `a call over HTTP follows redirects only when asked to`() async throws {
        let url = base + "/redirect?to=" + Percent.encode(base + "/echo")
        let plain = try await client().send(OutgoingRequest(url: url))
        #expect(plain.status == .found)
        #expect(plain.headers["Location"] == base + "/echo")
        let following = try client { $0.maximumRedirects = 2 }
        let response = try await following.send(OutgoingRequest(url: url))
        #expect(try Echo(response).target == "/echo")
        #expect(response.headers["Location"] == nil)
        let posted = try await following.send(OutgoingRequest(method: .post, url: url))
        #expect(posted.status == .found)
        var loop = base + "/echo"
        for _ in 0..<3 { loop = base + "/redirect?to=" + Percent.encode(loop) }
        #expect(await code(following, OutgoingRequest(url: loop)) == .refusedRedirect)
        for target in [
            "file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/",
            base.replacing("//", with: "//user@") + "/echo", "http://a b/", "http:///",
        ] {
            let url = base + "/redirect?to=" + Percent.encode(target)
            #expect(await code(following, OutgoingRequest(url: url)) == .refusedRedirect)
        }
    }

    @Test func `a call over HTTP sends no credentials of one host to the next`() async throws {
        let following = try client { $0.maximumRedirects = 1 }
        let other = try ChildServer("http_server.py")
        for (place, isSame) in [(base, true), ("http://127.0.0.1:\(other.port)", false)] {
            let response = try await following.send(
                OutgoingRequest(
                    url: base + "/redirect?to=" + Percent.encode(place + "/echo"),
                    headers: ["Authorization": "Bearer x", "Cookie": "a=b"]))
            let echo = try Echo(response)
            #expect(echo.all("authorization") == (isSame ? ["Bearer x"] : []))
            #expect(echo.all("cookie") == (isSame ? ["a=b"] : []))
        }
    }

    @Test func `a call over HTTP takes no proxy from the environment`() async throws {
        #expect(getenv("http_proxy").map { String(cString: $0) } == misleadingProxy)
        let response = try await client().send(OutgoingRequest(url: base + "/status/204"))
        #expect(response.status == .noContent)
    }

    @Test func `a call over HTTP uses the configured proxy`() async throws {
        let base = base
        let client = try client { $0.proxy = base }
        let response = try await client.send(OutgoingRequest(url: "http://nobody.invalid/echo"))
        #expect(try Echo(response).target == "http://nobody.invalid/echo")
        let gone = try self.client { $0.proxy = "http://127.0.0.1:1" }
        #expect(await code(gone, OutgoingRequest(url: base + "/echo")) == .unreachable)
    }

    private func client(_ change: (inout Configuration) -> Void = { _ in }) throws -> WebClient {
        var configuration = Configuration()
        configuration.timeout = .seconds(20)
        change(&configuration)
        return try WebClient(configuration)
    }
}

@Suite struct `A call over HTTPS` {
    private let certificates: Certificates

    init() throws { certificates = try Certificates() }

    @Test func `a call over HTTPS needs a trusted certificate`() async throws {
        let server = try ChildServer("http_server.py", certificates.arguments())
        let request = OutgoingRequest(url: "https://localhost:\(server.port)/status/204")
        #expect(await code(try client(), request) == .untrusted)
        let authority = certificates.authority
        let trusting = try client { $0.caFile = authority }
        #expect(try await trusting.send(request).status == .noContent)
        let number = OutgoingRequest(url: "https://127.0.0.1:\(server.port)/status/204")
        #expect(try await trusting.send(number).status == .noContent)
        let missing = try client { $0.caFile = "/nowhere/ca.pem" }
        #expect(await code(missing, request) == .untrusted)
    }

    @Test func `a call over HTTPS needs the certificate of the requested host`() async throws {
        let server = try ChildServer("http_server.py", certificates.arguments(for: "stranger"))
        let authority = certificates.authority
        let trusting = try client { $0.caFile = authority }
        let request = OutgoingRequest(url: "https://localhost:\(server.port)/status/204")
        #expect(await code(trusting, request) == .untrusted)
    }

    @Test func `a call over HTTPS follows no redirect to HTTP`() async throws {
        let server = try ChildServer("http_server.py", certificates.arguments())
        let clear = try ChildServer("http_server.py")
        let authority = certificates.authority
        let following = try client {
            $0.caFile = authority
            $0.maximumRedirects = 3
        }
        let target = "http://127.0.0.1:\(clear.port)/echo"
        let url = "https://localhost:\(server.port)/redirect?to=" + Percent.encode(target)
        #expect(await code(following, OutgoingRequest(url: url)) == .refusedRedirect)
    }
}

@Suite struct `A call and its client` {
    @Test(arguments: [
        "", "localhost", "ftp://localhost/", "file:///etc/passwd", "http://user@localhost/",
        "http://user:password@localhost/", "http:///x", "http://local host/", "http://a\r\nb/",
        "http://127.1/", "http://0x7f000001/", "//localhost/", "smtp://localhost/",
    ])
    func `a call's URL must be of HTTP`(url: String) async throws {
        #expect(await code(try client(), OutgoingRequest(url: url)) == .invalidRequest)
    }

    @Test func `a call's headers cannot break the frame of the message`() async throws {
        for name in ["Host", "content-length", "Transfer-Encoding", "Connection", "Expect"] {
            var headers = Headers()
            headers.append(name, "x")
            let request = OutgoingRequest(url: "http://127.0.0.1:1/", headers: headers)
            #expect(await code(try client(), request) == .invalidRequest, "\(name)")
        }
        let request = OutgoingRequest(url: "http://127.0.0.1:1/", body: [0x61])
        #expect(await code(try client(), request) == .invalidRequest)
    }

    @Test func `a call may demand encryption`() async throws {
        let strict = try client { $0.allowsHTTP = false }
        #expect(await code(strict, OutgoingRequest(url: "http://127.0.0.1:1/")) == .invalidRequest)
        #expect(await code(strict, OutgoingRequest(url: "https://127.0.0.1:1/")) == .unreachable)
    }

    @Test func `a call waits in a bounded queue`() async throws {
        let server = try ChildServer("http_server.py")
        let client = try client {
            $0.threads = 1
            $0.maximumWaiting = 2
            $0.timeout = .seconds(2)
        }
        let request = OutgoingRequest(url: "http://127.0.0.1:\(server.port)/hang")
        let started = ContinuousClock.now
        let codes = await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await code(client, request) } }
            return await group.reduce(into: [Failure.Code?]()) { $0.append($1) }
        }
        #expect(codes.filter { $0 == .busy }.count >= 7)
        #expect(codes.allSatisfy { $0 == .busy || $0 == .timeout })
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test func `a call can be cancelled`() async throws {
        let server = try ChildServer("http_server.py")
        let client = try client { $0.threads = 1 }
        let hanging = OutgoingRequest(url: "http://127.0.0.1:\(server.port)/hang")
        let good = OutgoingRequest(url: "http://127.0.0.1:\(server.port)/status/204")
        let first = Task { await code(client, hanging) }
        let second = Task { await code(client, hanging) }
        second.cancel()
        #expect(await second.value == .cancelled)
        first.cancel()
        #expect(await first.value == .cancelled)
        // The thread is free again long before the timeout.
        #expect(try await client.send(good).status == .noContent)
    }

    @Test func `a call is refused by a closed client`() async throws {
        let server = try ChildServer("http_server.py")
        let client = try client {
            $0.threads = 1
            $0.timeout = .seconds(1)
        }
        let hanging = OutgoingRequest(url: "http://127.0.0.1:\(server.port)/hang")
        async let first = code(client, hanging)
        async let second = code(client, hanging)
        while client.queueLength != 1 { await Task.yield() }
        client.close()
        // The thread may have taken the first one by then, or none yet.
        let codes = Set([await first, await second])
        #expect(codes == [.timeout, .closed] || codes == [.closed])
        #expect(await code(client, hanging) == .closed)
    }

    @Test func `a client's settings must make sense`() {
        let changes: [@Sendable (inout Configuration) -> Void] = [
            { $0.threads = 0 }, { $0.maximumWaiting = 0 }, { $0.timeout = .zero },
            { $0.connectTimeout = .seconds(-1) }, { $0.maximumBodyBytes = -1 },
            { $0.maximumRedirects = 21 }, { $0.userAgent = "a\r\nb" },
            {
                $0.proxy = "http://127.0.0.1:1"
                $0.destinations = .publicOnly()
            },
        ]
        for change in changes {
            #expect(throws: Failure(.invalidRequest, "")) { try client(change) }
        }
    }
}
