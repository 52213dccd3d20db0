import HTTP
import JSON
import Synchronization

/// Signing in, and what follows, as clients see it: over HTTP, with load, server and PostgreSQL on one
/// machine.
enum SignInFigures {
    private static var callers: Int { Bench.callers }

    struct Measured: Sendable {
        let name: String
        let summary: String
        var isLong = false
        let measure: @Sendable (Bench) async throws -> Figure
    }

    static let measuredInACrowd = [
        Measured(name: "refresh", summary: "refresh with rotation", measure: refresh),
        Measured(name: "passkey", summary: "passkeys redeemed", measure: passkeys),
        Measured(name: "client", summary: "client_credentials", measure: clientCredentials),
        Measured(
            name: "otp", summary: "sign-ins by mailed code: request, inbox, redeem",
            measure: signIns),
        Measured(
            name: "introspect", summary: "introspection of a reference token",
            measure: introspection),
    ]
    private static let others = [
        Measured(
            name: "otp-join", summary: "the same of strangers, who join by it", isLong: true,
            measure: joining),
        Measured(name: "userinfo", summary: "user info", measure: userInfo),
        Measured(
            name: "discovery", summary: "discovery of OpenID Connect", measure: discovery),
        Measured(name: "jwks", summary: "the keys of the realm", measure: jwks),
    ]

    static let all = (measuredInACrowd + others).map(entry) + [crowded]

    /// Each with a server and a log of its own; in the short form they share one.
    static func entry(_ measured: Measured) -> Figures.Entry {
        Figures.Entry(
            name: measured.name, summary: measured.summary, isLong: measured.isLong
        ) { workshop in
            guard workshop.options.isFull else {
                let server = try await workshop.sharedServer { try await open(0) }
                return [try await measure(measured, workshop, server)]
            }
            let server = try await open(0)
            defer { server.end() }
            return [try await measure(measured, workshop, server)]
        }
    }

    private static func measure(
        _ measured: Measured, _ workshop: Workshop, _ server: DevelopmentServer
    ) async throws -> Figure {
        try await measured.measure(Bench(workshop, server, measured.name, measured.summary))
    }

    /// The limits are there to slow strangers down, and so is the pause; both would be measured.
    static func open(_ number: Int, _ program: [String]? = nil) async throws -> DevelopmentServer {
        let server = try await DevelopmentServer(number: number, program: program)
        _ = try server.administer(
            "PATCH", "/settings",
            #"""
            {"uniform_delay": 0, "otp_resend_delay": 0, "rate_limits": {
                "native-otp": {
                    "target": null, "source": null, "client": null, "app": null,
                    "sign-ups": null},
                "passkey-begin": {"source": null, "client": null},
                "oauth-token": {
                    "source": null, "client": null, "target": {"amount": 1000000, "seconds": 1}}}}
            """#)
        return server
    }

    private static func refresh(_ bench: Bench) async throws -> Figure {
        let server = bench.server
        let tokens = try await Mailbox.signIn(callers, server)
        let latencies = Mutex<[Double]>([])
        let kept = Mutex(tokens)
        var figure = try await bench.figure(beside: .commits, bar: 0.25) { seconds in
            let result = try await bench.crowd(seconds: seconds) { caller in
                let line = try Line(port: server.port)
                return {
                    let token = kept.withLock { $0[caller] }
                    let answer = try line.send(server.requests.refresh(token))
                    guard let next = answer.refreshToken else { throw answer.failure }
                    kept.withLock { $0[caller] = next }
                }
            }
            latencies.withLock { $0 += result.latencies }
            return result.perSecond
        }
        let slow = latencies.withLock { $0.percentile(0.99) }
        figure.add("99 of 100 within \(spoken(slow)) ms (bar: 50 ms)")
        return figure
    }

    /// People who are known sign in again.
    private static func signIns(_ bench: Bench) async throws -> Figure {
        let server = bench.server
        let each = bench.workshop.size(short: 30, full: 300)
        let mailboxes = try (0..<callers).map { _ in try Mailbox(server) }
        _ = try await Crowd(callers: Bench.callers).run(times: each) { caller in
            { _ = try mailboxes[caller].signIn("known-\(caller)-\($0)@example.org") }
        }
        return try await bench.figure(beside: .commits, bar: 0.06) { seconds in
            try await bench.crowd(seconds: seconds) { caller in
                var turn = 0
                return {
                    _ = try mailboxes[caller].signIn("known-\(caller)-\(turn % each)@example.org")
                    turn += 1
                }
            }.perSecond
        }
    }

    /// Strangers, each of whom gets an account by it.
    private static func joining(_ bench: Bench) async throws -> Figure {
        let server = bench.server
        let number = Atomic<Int>(0)
        return try await bench.figure(beside: .commits, bar: nil) { seconds in
            try await bench.crowd(seconds: seconds) { _ in
                let mailbox = try Mailbox(server)
                return {
                    let next = number.wrappingAdd(1, ordering: .relaxed).newValue
                    _ = try mailbox.signIn("somebody-\(next)@example.org")
                }
            }.perSecond
        }
    }

    /// What is redeemed was begun and signed before: the figure is the server's part.
    private static func passkeys(_ bench: Bench) async throws -> Figure {
        let server = bench.server
        let mailbox = try Mailbox(server)
        let people = try (0..<callers).map {
            try PasskeyHolder("holder-\($0)@example.org", mailbox, server)
        }
        let each = bench.workshop.size(short: 150, full: 500)
        let begun = Mutex<[Double]>([])
        var figure = try await bench.figure(beside: .commits, bar: 0.15) { _ in
            let answers = Mutex([[[UInt8]]](repeating: [], count: callers))
            let beginning = try await Crowd(callers: Bench.callers).run(times: each) { caller in
                let line = try Line(port: server.port)
                return { _ in
                    let answer = try people[caller].answer(line)
                    answers.withLock { $0[caller].append(answer) }
                }
            }
            begun.withLock { $0.append(beginning.perSecond) }
            let kept = answers.withLock { $0 }
            return try await bench.crowd(upTo: each) { caller in
                let line = try Line(port: server.port)
                return { try people[caller].redeem(kept[caller][$0], line) }
            }.perSecond
        }
        figure.add("begun and signed at \(spoken(begun.withLock { $0.median }))/s")
        return figure
    }

    private static func clientCredentials(_ bench: Bench) async throws -> Figure {
        let service = try Service(bench.server)
        return try await bench.figure(beside: .commits, bar: 0.3, service.tokens)
    }

    private static func introspection(_ bench: Bench) async throws -> Figure {
        let service = try Service(bench.server)
        let token = try service.token()
        return try await bench.figure(
            beside: .plainAnswers, bar: 0.3, service.introspections(of: token))
    }

    private static func userInfo(_ bench: Bench) async throws -> Figure {
        let person = try await Mailbox.signIn(1, bench.server)[0]
        let answer = try Line(port: bench.server.port).send(
            bench.server.requests.refresh(person))
        guard let access = answer.json?["access_token"]?.string else { throw answer.failure }
        return try await bench.figure(
            beside: .plainAnswers, bar: 0.25,
            bench.server.getting("/connect/userinfo", bearer: access))
    }

    private static func discovery(_ bench: Bench) async throws -> Figure {
        try await bench.figure(
            beside: .plainAnswers, bar: 0.7,
            bench.server.getting("/.well-known/openid-configuration"))
    }

    private static func jwks(_ bench: Bench) async throws -> Figure {
        try await bench.figure(
            beside: .plainAnswers, bar: 0.7, bench.server.getting("/.well-known/jwks.json"))
    }
}
