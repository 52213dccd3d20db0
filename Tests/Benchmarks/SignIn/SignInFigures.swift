import Glibc
import HTTP
import HTTPServer
import JSON
import Synchronization

/// Signing in, and what follows, as clients see it: over HTTP, with load, server and PostgreSQL on one
/// machine.
enum SignInFigures {
    private static let callers = 64

    static func measure(_ workshop: Workshop) async throws -> [Figure] {
        let server = try await DevelopmentServer()
        defer { server.end() }
        // The limits are there to slow strangers down, and so is the pause; both would be measured.
        _ = try server.administer(
            "PATCH", "/settings",
            #"""
            {"uniform_delay": 0, "otp_resend_delay": 0, "rate_limits": {
                "native-otp": {"source": null, "client": null, "app": null, "sign-ups": null},
                "passkey-begin": {"source": null, "client": null},
                "oauth-token": {"source": null, "client": null}}}
            """#)
        let client = try server.administer(
            "POST", "/clients",
            #"""
            {"client_id": "service", "grant_types": ["client_credentials"], "scope": "jobs",
                "token_endpoint_auth_method": "client_secret_post"}
            """#)
        let service = Service(server: server, secret: client["client_secret"]?.string ?? "")
        let written = [
            try await refresh(workshop, server), try await signIns(workshop, server),
            try await passkeys(workshop, server), try await clientCredentials(workshop, service),
        ]
        return written + (try await reads(workshop, service))
    }

    // MARK: - Against commits

    private static func refresh(
        _ workshop: Workshop, _ server: DevelopmentServer
    ) async throws -> Figure {
        let tokens = try await Mailbox.signIn(callers, server)
        let latencies = Mutex<[Double]>([])
        let requests = server.requests
        let kept = Mutex(tokens)
        let figure = try await againstCommits(
            workshop, server, "refresh", "refresh with rotation", bar: 0.25
        ) { seconds in
            let result = try await Crowd(callers: callers).run(seconds: seconds) { caller in
                let line = try Line(port: server.port)
                return {
                    let token = kept.withLock { $0[caller] }
                    let answer = try line.send(
                        requests.post(
                            "/connect/token",
                            "grant_type=refresh_token&client_id=demo-native&refresh_token=\(token)"
                        ))
                    guard let next = answer.refreshToken else {
                        throw BenchmarkFailure(String(decoding: answer.body, as: UTF8.self))
                    }
                    kept.withLock { $0[caller] = next }
                }
            }
            latencies.withLock { $0 += result.latencies }
            return result.perSecond
        }
        var noted = figure
        let slow = latencies.withLock { $0.percentile(0.99) }
        noted.note = "99 of 100 within \(spoken(slow)) ms (bar: 50 ms)"
        return noted
    }

    private static func signIns(
        _ workshop: Workshop, _ server: DevelopmentServer
    ) async throws -> Figure {
        let number = Atomic<Int>(0)
        return try await againstCommits(
            workshop, server, "otp", "sign-ins by mailed code: request, inbox, redeem", bar: 0.06
        ) { seconds in
            try await Crowd(callers: callers).run(seconds: seconds) { _ in
                let mailbox = try Mailbox(server)
                return {
                    let next = number.wrappingAdd(1, ordering: .relaxed).newValue
                    _ = try mailbox.signIn("somebody-\(next)@example.org")
                }
            }.perSecond
        }
    }

    private static func passkeys(
        _ workshop: Workshop, _ server: DevelopmentServer
    ) async throws -> Figure {
        let mailbox = try Mailbox(server)
        let people = try (0..<callers).map {
            try PasskeyHolder("holder-\($0)@example.org", mailbox, server)
        }
        return try await againstCommits(
            workshop, server, "passkey", "sign-ins by passkey: begin, sign, redeem", bar: 0.15
        ) { seconds in
            try await Crowd(callers: callers).run(seconds: seconds) { caller in
                let line = try Line(port: server.port)
                return { try people[caller].signIn(line) }
            }.perSecond
        }
    }

    private static func clientCredentials(
        _ workshop: Workshop, _ service: Service
    ) async throws -> Figure {
        try await againstCommits(
            workshop, service.server, "client", "client_credentials", bar: 0.3
        ) { _ in
            try service.tokens()
        }
    }

    private static func againstCommits(
        _ workshop: Workshop, _ server: DevelopmentServer, _ name: String, _ summary: String,
        bar: Double, _ measure: (Double) async throws -> Double
    ) async throws -> Figure {
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin(name, rounds: count)
        let seconds = workshop.size(short: 4, full: 10)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await measure(Double(seconds))
        } limit: {
            try server.commits(seconds: seconds)
        }
        return Figure(
            name, summary, rounds.median.value, "/s",
            limit: .init(name: "bare commits, 32 clients", value: rounds.median.limit),
            bar: .ratioAtLeast(bar))
    }

    // MARK: - Against HTTP

    private static func reads(
        _ workshop: Workshop, _ service: Service
    ) async throws -> [Figure] {
        let token = try service.token()
        let person = try await Mailbox.signIn(1, service.server)[0]
        let access = try service.accessToken(refreshedFrom: person)
        return [
            try await againstHTTP(
                workshop, "introspect", "introspection of a reference token", bar: 0.3
            ) { try service.introspections(of: token) },
            try await againstHTTP(workshop, "userinfo", "user info", bar: 0.25) {
                try service.get("/connect/userinfo", bearer: access)
            },
            try await againstHTTP(workshop, "discovery", "discovery of OpenID Connect", bar: 0.7) {
                try service.get("/.well-known/openid-configuration")
            },
            try await againstHTTP(workshop, "jwks", "the keys of the realm", bar: 0.7) {
                try service.get("/.well-known/jwks.json")
            },
        ]
    }

    private static func againstHTTP(
        _ workshop: Workshop, _ name: String, _ summary: String, bar: Double,
        _ measure: () throws -> Double
    ) async throws -> Figure {
        let constant = [UInt8](repeating: 0x78, count: 600)
        let plain = try Server(Configuration()) { _ in
            Response(status: .ok, headers: Headers(), body: constant)
        }
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin(name, rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try measure()
        } limit: {
            try Wrk.run("http://127.0.0.1:\(plain.port)/")
        }
        await plain.stop(drain: .seconds(1))
        return Figure(
            name, summary, rounds.median.value, "/s",
            limit: .init(name: "600 constant bytes over HTTP", value: rounds.median.limit),
            bar: .ratioAtLeast(bar))
    }
}

/// A client that acts for itself.
private struct Service: Sendable {
    let server: DevelopmentServer
    let secret: String

    private var form: String { "client_id=service&client_secret=\(secret)" }

    var tokenRequest: [UInt8] {
        server.requests.post("/connect/token", "grant_type=client_credentials&scope=jobs&\(form)")
    }

    func token() throws -> String {
        let answer = try Line(port: server.port).send(tokenRequest)
        guard let token = answer.json?["access_token"]?.string else {
            throw BenchmarkFailure(String(decoding: answer.body, as: UTF8.self))
        }
        return token
    }

    func tokens() throws -> Double {
        try run("/connect/token", "grant_type=client_credentials&scope=jobs&\(form)")
    }

    func introspections(of token: String) throws -> Double {
        try run("/connect/introspect", "token=\(token)&\(form)")
    }

    func accessToken(refreshedFrom token: String) throws -> String {
        let answer = try Line(port: server.port).send(
            server.requests.post(
                "/connect/token",
                "grant_type=refresh_token&client_id=demo-native&refresh_token=\(token)"))
        guard let access = answer.json?["access_token"]?.string else {
            throw BenchmarkFailure(String(decoding: answer.body, as: UTF8.self))
        }
        return access
    }

    func get(_ path: String, bearer: String? = nil) throws -> Double {
        try Wrk.run(
            "http://127.0.0.1:\(server.port)\(path)",
            script: """
                wrk.headers["Host"] = "\(server.requests.host)"
                \(bearer.map { "wrk.headers[\"Authorization\"] = \"Bearer \($0)\"" } ?? "")
                """)
    }

    private func run(_ path: String, _ body: String) throws -> Double {
        try Wrk.run(
            "http://127.0.0.1:\(server.port)\(path)",
            script: """
                wrk.method = "POST"
                wrk.body = "\(body)"
                wrk.headers["Host"] = "\(server.requests.host)"
                wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
                """)
    }
}
