import Cryptography
import JSON

/// The flagship app: what a passphrase, a web view and a store's word cost.
enum FlagshipFigures {
    static let all =
        [
            SignInFigures.Measured(
                name: "flagship-login", summary: "owners by passphrase, beside scrypt alone",
                isLong: true, measure: logins),
            SignInFigures.Measured(
                name: "session-code", summary: "session codes for web views",
                measure: sessionCodes),
        ].map(SignInFigures.entry) + AttestationFigures.all

    /// Few callers: more would wait for the memory that scrypt takes.
    private static let callers = 4

    private static func logins(_ bench: Bench) async throws -> Figure {
        let app = try InstalledApp(bench.server)
        let request = Array(app.login)
        let scrypt = Bench.Limit.other("scrypt alone") {
            try await Crowd(callers: callers).run(seconds: 2) { _ in
                {
                    _ = try Scrypt.hash(SecretBytes(Array("otters".utf8)))
                }
            }.perSecond
        }
        return try await bench.figure(beside: scrypt, bar: nil) { seconds in
            try await bench.expense.count {
                let result = try await Crowd(callers: callers).run(seconds: seconds) { _ in
                    let line = try Line(port: bench.server.port)
                    return {
                        let answer = try line.send(request)
                        guard answer.status == 200 else { throw answer.failure }
                    }
                }
                return (result.perSecond, Double(result.latencies.count))
            }
        }
    }

    private static func sessionCodes(_ bench: Bench) async throws -> Figure {
        let app = try InstalledApp(bench.server)
        let request = app.sessionCode
        return try await bench.figure(beside: .commits, bar: 0.2) { seconds in
            try await bench.crowd(seconds: seconds) { _ in
                let line = try Line(port: bench.server.port)
                return {
                    let answer = try line.send(request)
                    guard answer.status == 201 else { throw answer.failure }
                }
            }.perSecond
        }
    }
}

/// An app on a phone that Apple vouched for, in a realm that its owner has taken over with it. It is
/// the one that the tests have.
private struct InstalledApp: Sendable {
    let login: [UInt8]
    let sessionCode: [UInt8]

    init(_ server: DevelopmentServer) throws {
        _ = try server.administer(
            "PATCH", "/settings",
            #"""
            {"uniform_delay": 0, "rate_limits": {
                "owner-sign-in": {"source": null, "target": null},
                "installation": {"source": null, "target": null}}}
            """#, realm: "flagship")
        let script = """
            import json, sys
            sys.path.insert(0, "Tests/Interop")
            import flagship_client as flagship
            values = json.loads(sys.argv[1])
            app = flagship.App(values)
            app.register()
            assert app.certify_by_apple()[0] == 204
            assert app.onboard("correct horse battery")[0] == 200
            typed = flagship.device_hash("correct horse battery", app.host, 100_000)
            print(json.dumps({"id": app.id, "secret": app.secret, "access": app.access,
                              "typed": typed}))
            """
        let values = server.valuesAsJSON
        let text = try Program([
            "python3", "-B", "-c", script, String(decoding: values, as: UTF8.self),
        ]).run()
        let told = try? JSON.parse(Array(text.utf8))
        guard let id = told?["id"]?.string, let secret = told?["secret"]?.string,
            let access = told?["access"]?.string, let typed = told?["typed"]?.string
        else { throw BenchmarkFailure("The app could not be set up:\n\(text)") }
        let requests = Requests(host: server.values["URD_FLAGSHIP_HOST"] ?? "")
        let body = JSON.object([
            "client_id": .string(id), "client_secret": .string(secret),
            "passphrase": .string(typed),
        ]).canonical()
        login = requests.post(
            "/auth/login/flagship", String(decoding: body, as: UTF8.self),
            type: "application/json")
        sessionCode = requests.post(
            "/auth/session_code", "{}", type: "application/json", token: access)
    }
}
