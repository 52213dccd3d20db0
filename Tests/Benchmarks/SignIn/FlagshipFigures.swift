import Cryptography
import Foundation
import JSON
import SecurityKeys
import Synchronization
import Telemetry
import Values

/// The flagship app: what a passphrase, a web view and a store's word cost.
enum FlagshipFigures {
    static let all =
        [
            SignInFigures.Measured(
                name: "flagship-login", summary: "owners by passphrase, beside scrypt alone",
                measure: logins),
            SignInFigures.Measured(
                name: "session-code", summary: "session codes for web views",
                measure: sessionCodes),
        ].map(SignInFigures.entry) + [
            Figures.Entry(
                name: "attestation", summary: "words of Apple's App Attest verified",
                measure: attestations)
        ]

    /// Few callers: more would wait for the memory that scrypt takes.
    private static let callers = 4

    private static func logins(_ bench: Bench) async throws -> Figure {
        let app = try InstalledApp(bench.server)
        let request = Array(app.login)
        let count = bench.workshop.size(short: 3, full: 5)
        bench.workshop.progress.begin(bench.name, rounds: count)
        let rounds = try await Rounds.run(count, bench.workshop.progress) {
            try await bench.expense.count {
                let result = try await Crowd(callers: callers).run(seconds: 4) { _ in
                    let line = try Line(port: bench.server.port)
                    return {
                        let answer = try line.send(request)
                        guard answer.status == 200 else { throw answer.failure }
                    }
                }
                return (result.perSecond, Double(result.latencies.count))
            }
        } limit: {
            try await Crowd(callers: callers).run(seconds: 4) { _ in
                {
                    _ = try Scrypt.hash(SecretBytes(Array("otters".utf8)))
                }
            }.perSecond
        }
        return Figure(
            bench.name, bench.summary, rounds.median.value, "/s",
            limit: .init(name: "scrypt alone", value: rounds.median.limit), bar: .none,
            note: bench.expense.text)
    }

    private static func sessionCodes(_ bench: Bench) async throws -> Figure {
        let app = try InstalledApp(bench.server)
        let request = app.sessionCode
        return try await bench.againstCommits(bar: 0.2) { seconds in
            try await bench.crowd(seconds: seconds) { _ in
                let line = try Line(port: bench.server.port)
                return {
                    let answer = try line.send(request)
                    guard answer.status == 201 else { throw answer.failure }
                }
            }.perSecond
        }
    }

    /// Two certificates stand between the phone's key and the demo's root, each with one signature.
    private static func attestations(_ workshop: Workshop) async throws -> [Figure] {
        let server = try await DevelopmentServer()
        defer { server.end() }
        let app = try InstalledApp(server)
        let settings = try server.administer("GET", "/settings", "", realm: "flagship")
        let root = settings["settings"]?["app_attest_roots"] ?? settings["app_attest_roots"]
        guard let text = root?.array?.first?.string, let bytes = Data(base64Encoded: text),
            let certificate = try? Certificate(der: Array(bytes))
        else { throw BenchmarkFailure("The demo realm names no root: \(settings)") }
        let rules = AppAttest.Rules(
            apps: [app.team], roots: [certificate], environment: .production)
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin("attestation", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            var done = 0
            let began = ContinuousClock.now
            while ContinuousClock.now - began < .seconds(2) {
                _ = try AppAttest.verify(
                    attestation: app.attestation, keyID: app.keyID,
                    challenge: Array(app.challenge.utf8), rules: rules, at: Log.systemTime())
                done += 1
            }
            return Double(done) / ((ContinuousClock.now - began) / .seconds(1))
        } limit: {
            let text = try Program(["openssl", "speed", "-elapsed", "-seconds", "2", "ecdsap256"])
                .run()
            guard let line = text.split(separator: "\n").last(where: { $0.contains("nistp256") }),
                let rate = line.split(separator: " ").last.flatMap({ Double($0) })
            else { throw BenchmarkFailure("openssl said:\n\(text)") }
            return rate / 2
        }
        return [
            Figure(
                "attestation", "words of Apple's App Attest verified, by one thread",
                rounds.median.value, "/s",
                limit: .init(name: "its two signatures, openssl", value: rounds.median.limit),
                bar: .ratioAtLeast(0.5))
        ]
    }
}

/// An app on a phone that Apple vouched for, in a realm that its owner has taken over with it. It is
/// the one that the tests have.
private struct InstalledApp: Sendable {
    let login: [UInt8]
    let sessionCode: [UInt8]
    let team: String
    let challenge: String
    let attestation: [UInt8]
    let keyID: [UInt8]

    init(_ server: DevelopmentServer) throws {
        _ = try server.administer(
            "PATCH", "/settings",
            #"""
            {"uniform_delay": 0, "rate_limits": {
                "owner-sign-in": {"target": null}, "installation": {"target": null}}}
            """#, realm: "flagship")
        let script = """
            import json, sys
            sys.path.insert(0, "Tests/Interop")
            import flagship_client as flagship
            values = json.loads(sys.argv[1])
            app = flagship.App(values)
            app.register()
            phone = flagship.AppleDevice(values)
            word = phone.attestation(app.challenge())
            assert app.attest(word)[0] == 204
            assert app.onboard("correct horse battery")[0] == 200
            typed = flagship.device_hash("correct horse battery", app.host, 100_000)
            print(json.dumps({"id": app.id, "secret": app.secret, "access": app.access,
                              "typed": typed, "team": phone.app, **word}))
            """
        let values = JSON.object(server.values.mapValues { .string($0) }).canonical()
        let text = try Program([
            "python3", "-B", "-c", script, String(decoding: values, as: UTF8.self),
        ]).run()
        let told = try? JSON.parse(Array(text.utf8))
        guard let id = told?["id"]?.string, let secret = told?["secret"]?.string,
            let access = told?["access"]?.string, let typed = told?["typed"]?.string,
            let team = told?["team"]?.string, let challenge = told?["challenge"]?.string,
            let attestation = (told?["attestation"]?.string).flatMap({ Data(base64Encoded: $0) }),
            let keyID = (told?["keyId"]?.string).flatMap({ Data(base64Encoded: $0) })
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
        self.team = team
        self.challenge = challenge
        self.attestation = Array(attestation)
        self.keyID = Array(keyID)
    }
}
