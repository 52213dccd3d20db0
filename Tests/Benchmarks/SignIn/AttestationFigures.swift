import Cryptography
import Foundation
import JSON
import SecurityKeys
import Telemetry
import Values

/// What Apple's word for a phone costs to verify.
///
/// Two signatures make a word: that of the issuer on the phone's certificate, and that of the root on the
/// issuer's. Every word here is of another phone. Of Apple's few issuers the second signature is looked at
/// once, so that there are two figures: of phones below one issuer, as they are, and of phones each below
/// one that nobody has met, where both are looked at. Both stand beside two signatures, as `openssl speed`
/// has them for the curve of the demo's store. Apple's own curve is P-384, whose signatures take so much
/// longer that all else would not be seen beside them.
enum AttestationFigures {
    static let all = [
        Figures.Entry(
            name: "attestation", summary: "words of Apple's App Attest verified",
            isLong: true, measure: attestations)
    ]

    /// More than issuers are remembered.
    private static let phones = 200

    private struct Word: Sendable {
        let challenge, attestation, keyID: [UInt8]
    }

    private static func attestations(_ workshop: Workshop) async throws -> [Figure] {
        let server = try await DevelopmentServer()
        defer { server.end() }
        let settings = try server.administer("GET", "/settings", "", realm: "flagship")
        let root = settings["settings"]?["app_attest_roots"] ?? settings["app_attest_roots"]
        guard let text = root?.array?.first?.string, let bytes = Data(base64Encoded: text),
            let certificate = try? Certificate(der: Array(bytes))
        else { throw BenchmarkFailure("The demo realm names no root: \(settings)") }
        let told = try words(server)
        let rules = AppAttest.Rules(
            apps: [told.app], roots: [certificate], environment: .production)
        var figures: [Figure] = []
        for (words, name, summary, bar) in [
            (
                told.ofOne, "attestation", "words of Apple's App Attest verified, by one thread",
                Bar.ratioAtLeast(0.5)
            ),
            (
                told.ofMany, "attestation-met", "the same, each with an issuer never met before",
                .none
            ),
        ] {
            figures.append(try await measure(workshop, name, summary, words, rules, bar))
        }
        return figures
    }

    private static func measure(
        _ workshop: Workshop, _ name: String, _ summary: String, _ words: [Word],
        _ rules: AppAttest.Rules, _ bar: Bar
    ) async throws -> Figure {
        let count = workshop.size(short: 5, full: 9)
        workshop.progress.begin(name, rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            var done = 0
            let began = ContinuousClock.now
            while ContinuousClock.now - began < .seconds(1) {
                let word = words[done % words.count]
                _ = try AppAttest.verify(
                    attestation: word.attestation, keyID: word.keyID, challenge: word.challenge,
                    rules: rules, at: Log.systemTime())
                done += 1
            }
            return Double(done) / ((ContinuousClock.now - began) / .seconds(1))
        } limit: {
            try OpenSSL.speed("ecdsap256", seconds: 1).verified / 2
        }
        return Figure(
            name, summary, rounds.median.value, "/s",
            limit: .init(name: "two P-256 signatures, openssl", value: rounds.median.limit),
            bar: bar)
    }

    private static func words(
        _ server: DevelopmentServer
    ) throws -> (ofOne: [Word], ofMany: [Word], app: String) {
        let script = """
            import json, sys
            sys.path.insert(0, "Tests/Interop")
            import flagship_client as flagship
            values, phones = json.loads(sys.argv[1]), int(sys.argv[2])
            issuer = flagship.AppleIssuer(values)
            def words(issuer=None):
                return [flagship.AppleDevice(values, issuer=issuer).attestation(f"challenge {n}")
                        for n in range(phones)]
            print(json.dumps({"app": flagship.TEAM, "one": words(issuer), "many": words()}))
            """
        let values = server.valuesAsJSON
        let text = try Program([
            "python3", "-B", "-c", script, String(decoding: values, as: UTF8.self), "\(phones)",
        ]).run()
        let told = try? JSON.parse(Array(text.utf8))
        let ofOne = (told?["one"]?.array ?? []).compactMap(word)
        let ofMany = (told?["many"]?.array ?? []).compactMap(word)
        guard let app = told?["app"]?.string, ofOne.count == phones, ofMany.count == phones else {
            throw BenchmarkFailure("No words could be made:\n\(text)")
        }
        return (ofOne, ofMany, app)
    }

    private static func word(_ told: JSON) -> Word? {
        guard let challenge = told["challenge"]?.string,
            let attestation = (told["attestation"]?.string).flatMap({ Data(base64Encoded: $0) }),
            let keyID = (told["keyId"]?.string).flatMap({ Data(base64Encoded: $0) })
        else { return nil }
        return Word(
            challenge: Array(challenge.utf8), attestation: Array(attestation),
            keyID: Array(keyID))
    }
}
