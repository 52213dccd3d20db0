import Foundation
import Synchronization
import Testing

@testable import UrdClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers in turn, and remembers what was asked.
private final class Script: Transport {
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = "{}"
        var failure: URLError.Code?
    }

    private let state: Mutex<(answers: [Answer], asked: [String])>

    init(_ answers: Answer...) {
        state = Mutex((answers, []))
    }

    var asked: [String] { state.withLock { $0.asked } }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        await Task.yield()
        let url = try #require(request.url)
        let answer = try state.withLock { state in
            let body = request.httpBody.map { String(decoding: $0, as: UTF8.self) } ?? ""
            state.asked.append("\(request.httpMethod ?? "") \(url.path) \(body)")
            try #require(!state.answers.isEmpty, "nobody expected this request")
            return state.answers.removeFirst()
        }
        if let failure = answer.failure { throw URLError(failure) }
        let response = HTTPURLResponse(
            url: url, statusCode: answer.status, httpVersion: "HTTP/1.1",
            headerFields: answer.headers)
        return (Data(answer.body.utf8), try #require(response))
    }
}

extension Script.Answer {
    fileprivate static func tokens(_ number: Int, lifetime: Int = 900) -> Script.Answer {
        Script.Answer(
            body: """
                {"access_token": "a\(number)", "refresh_token": "r\(number)", "token_type": \
                "Bearer", "expires_in": \(lifetime), "scope": "openid offline_access"}
                """)
    }
}

@Suite struct `A client of a realm` {
    private func client(_ script: Script) throws -> UrdClient {
        UrdClient(
            try #require(URL(string: "https://login.example.org")), clientID: "phone",
            transport: script)
    }

    @Test func `UrdClient signs in with a code and has a token until it expires`() async throws {
        let script = Script(.init(), .tokens(1))
        let client = try client(script)
        try await client.requestCode(email: "ann@example.org")
        try await client.signIn(email: "ann+x@example.org", code: "123456", scope: ["openid"])
        #expect(try await client.accessToken() == "a1")
        #expect(
            script.asked == [
                #"POST /api/account/native/otp/request {"Email":"ann@example.org"}"#,
                "POST /connect/token client_id=phone&grant_type=urn%3Acocoar%3Aotp"
                    + "&otp_code=123456&scope=openid&username=ann%2Bx%40example.org",
            ])
    }

    @Test func `UrdClient refreshes once for many callers`() async throws {
        let script = Script(.tokens(1, lifetime: 10), .tokens(2))
        let client = try client(script)
        try await client.signIn(email: "ann@example.org", code: "123456")
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await client.accessToken() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens == ["a2"])
        #expect(script.asked.count == 2)
    }

    @Test func `UrdClient repeats a refresh with the same token when the answer was lost`()
        async throws
    {
        let script = Script(.tokens(1), .init(failure: .networkConnectionLost), .tokens(2))
        let client = try client(script)
        try await client.signIn(email: "ann@example.org", code: "123456")
        #expect(try await client.refresh().access == "a2")
        #expect(script.asked[1] == script.asked[2])
    }

    @Test func `UrdClient is signed out when its refresh token is refused`() async throws {
        let over = Script.Answer(status: 400, body: #"{"error": "invalid_grant"}"#)
        let client = try client(Script(.tokens(1), over))
        try await client.signIn(email: "ann@example.org", code: "123456")
        await #expect(throws: UrdError.signedOut) { try await client.refresh() }
        #expect(try await !client.isSignedIn())
    }

    @Test func `UrdClient stays signed in through an outage`() async throws {
        let down = Script.Answer(status: 503, headers: ["Retry-After": "7"])
        let client = try client(Script(.tokens(1), down, .tokens(2)))
        try await client.signIn(email: "ann@example.org", code: "123456")
        await #expect(throws: UrdError.unavailable(retryAfter: 7)) { try await client.refresh() }
        #expect(try await client.refresh().access == "a2")
    }

    @Test(arguments: [
        (
            400,
            #"{"error": "invalid_grant", "error_description": "Two-factor authentication "#
                + #"is required; supply totp_code."}"#, UrdError.secondFactorNeeded
        ),
        (429, #"{"error": "rate_limited"}"#, .rateLimited(retryAfter: 30)),
        (
            400, #"{"status": 400, "title": "NativeGrants.Disabled", "detail": "Not here."}"#,
            .refused(status: 400, code: "NativeGrants.Disabled", detail: "Not here.")
        ),
        (
            400, #"{"error": "FirstName is required."}"#,
            .refused(status: 400, code: "FirstName is required.", detail: "")
        ),
        (500, "no JSON", .refused(status: 500, code: "", detail: "")),
    ])
    func `UrdClient reports the refusal's code`(status: Int, body: String, error: UrdError)
        async throws
    {
        let script = Script(
            .init(status: status, headers: ["Retry-After": "30"], body: body))
        let client = try client(script)
        await #expect(throws: error) {
            try await client.signIn(email: "ann@example.org", code: "123456")
        }
    }

    @Test func `UrdClient forgets its tokens at a sign-out, whatever the server answers`()
        async throws
    {
        let client = try client(Script(.tokens(1), .init(failure: .notConnectedToInternet)))
        try await client.signIn(email: "ann@example.org", code: "123456")
        await #expect(throws: UrdError.self) { try await client.signOut() }
        #expect(try await !client.isSignedIn())
    }

    @Test func `UrdClient reads the link in a mail`() async throws {
        let script = Script(.tokens(1))
        let client = try client(script)
        let link = "https://login.example.org/magic-login?userId=u&token=a%2Bb&redirect=%2F"
        try await client.signIn(link: try #require(URL(string: link)), scope: [])
        #expect(script.asked[0].contains("magic_token=a%2Bb"))
        await #expect(throws: UrdError.self) {
            try await client.signIn(link: try #require(URL(string: "https://x/y")))
        }
    }
}
