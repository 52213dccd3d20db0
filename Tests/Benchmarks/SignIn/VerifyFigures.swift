import Cryptography
import JSON
import Values

/// The page for tenants, and the exchange of what it answers with.
enum VerifyFigures {
    static let all = [
        SignInFigures.Measured(
            name: "verify-page", summary: "pages that ask a tenant's user for an address"
        ) { bench in
            let tenant = try Tenant(bench)
            return try await bench.figure(
                beside: .plainAnswers, bar: 0.3,
                Wrk.Asking(url: "http://\(tenant.host)\(tenant.page("/app"))", script: nil))
        },
        SignInFigures.Measured(
            name: "verify-exchange", summary: "codes of tenants' apps redeemed for tokens"
        ) { bench in
            let tenant = try Tenant(bench)
            let mailbox = try Mailbox(bench.server)
            let browsers = try (0..<Bench.callers).map { number in
                try tenant.signIn("\(bench.name)-\(number)@example.org", mailbox)
            }
            let each = bench.workshop.size(short: 100, full: 500)
            return try await bench.figure(beside: .commits, bar: 0.15) { _ in
                // Codes are made without a commit; only redeeming them is measured.
                let requests = try browsers.map { browser in
                    try browser.browser.reconnect()
                    return try (0..<each).map { _ in try tenant.exchange(browser) }
                }
                return try await bench.crowd(upTo: each) { caller in
                    let line = try Line(port: bench.server.port)
                    return {
                        let answer = try line.send(requests[caller][$0])
                        guard answer.status == 200 else { throw answer.failure }
                    }
                }.perSecond
            }
        },
    ].map(SignInFigures.entry)
}

/// The demo tenant and an app of it.
private struct Tenant: Sendable {
    private let port: UInt16
    private let key: String
    private static let verifier = String(repeating: "v", count: 43)

    var host: String { "127.0.0.1:\(port)" }

    init(_ bench: Bench) throws {
        port = bench.server.port
        guard let key = bench.server.values["URD_VERIFY_API_KEY_ID"] else {
            throw BenchmarkFailure("dev.env has no tenant.")
        }
        self.key = key
        _ = try bench.server.administer(
            "PATCH", "/settings",
            #"""
            {"uniform_delay": 0, "rate_limits": {"oauth-token": {"source": null},
                "verify-code": {"source": null, "target": null},
                "verify-browser": {"target": null}}}
            """#, realm: "verify")
    }

    func page(_ path: String) -> String {
        let challenge = Base64URL.encode(SHA256.hash(Array(Self.verifier.utf8)))
        return "\(path)?api_key=\(key)&redirect_url=http%3A%2F%2Flocalhost%3A8395&type=EMAIL"
            + "&state=1234567890&code_challenge=\(challenge)"
    }

    /// A browser that is recognised from then on.
    func signIn(_ address: String, _ mailbox: Mailbox) throws -> TenantsUser {
        let browser = try Browser(port: port, host: host)
        let first = try browser.get(page("/app"))
        guard let form = first.value(of: "name=\"form\" value=\"") else { throw first.failure }
        let place = try browser.place(
            try browser.post(page("/app"), "form=\(form)&input=\(address)"))
        let typed = try browser.get(place)
        guard let form = typed.value(of: "name=\"form\" value=\"") else { throw typed.failure }
        _ = try browser.place(
            try browser.post(String(place), "form=\(form)&code=\(try mailbox.code(address))"))
        let known = try browser.get(page("/app"))
        guard let form = known.value(of: "name=\"form\" value=\"") else { throw known.failure }
        return TenantsUser(browser: browser, form: String(form))
    }

    /// The request that redeems a code which the page gives a recognised browser.
    func exchange(_ user: TenantsUser) throws -> [UInt8] {
        let place = try user.browser.place(
            try user.browser.post(page("/app/continue"), "form=\(user.form)"))
        func member(_ name: String) throws -> Substring {
            guard let start = place.firstRange(of: "\(name)=") else {
                throw BenchmarkFailure("No code came: \(place)")
            }
            return place[start.upperBound...].prefix { $0 != "&" }
        }
        let body = """
            {"authorization_code":"\(try member("code"))","code_verifier":"\(Self.verifier)",\
            "challenge_id":\(try member("challenge_id")),"redirect_url":"http://localhost:8395"}
            """
        return Array(
            """
            POST /api/v0/verify/get_identity?oauth_token=true HTTP/1.1\r\nHost: \(host)\r\n\
            API_KEY_ID: \(key)\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
    }
}

/// A browser that is signed in, and what its forms are bound by. One thread at a time.
private struct TenantsUser: @unchecked Sendable {
    let browser: Browser
    let form: String
}
