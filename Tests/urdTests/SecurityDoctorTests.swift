import Identity
import JSON
import Testing
import Values

@testable import urd

@Suite("The doctor of the realms' security")
struct SecurityDoctorTests {
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let sound: JSONObject = ["links_base_url": "https://id.example.org"]

    private func client(
        _ name: String = "web", _ metadata: JSONObject = [:], secretDays: Int64? = 10
    ) throws -> RealmPosture.Client {
        let usual: JSONObject = [
            "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": ["https://web.example.org/back"],
            "token_endpoint_auth_method": "client_secret_basic", "consent": "needed",
        ]
        return RealmPosture.Client(
            name: name,
            metadata: try #require(ClientMetadata(recorded: usual.merging(metadata) { $1 })),
            secretSince: secretDays.map { Self.now.adding(seconds: -86_400 * $0) })
    }

    private func verdicts(
        _ settings: JSONObject = [:], clients: [RealmPosture.Client]? = nil,
        keyDays: Int64 = 30, _ installation: InstallationPosture = InstallationPosture()
    ) throws -> [String: Diagnosis.Verdict] {
        let posture = RealmPosture(
            realm: "acme",
            settings: Identity.Settings(overrides: Self.sound.merging(settings) { $1 }),
            clients: try clients ?? [try client()],
            keys: [.init(algorithm: "ES256", since: Self.now.adding(seconds: -86_400 * keyDays))])
        let all = SecurityChecks(realm: posture, installation: installation, now: Self.now).all()
        for one in all {
            #expect(one.realm == "acme")
            #expect((one.verdict == .fine) == (one.remedy == nil), "\(one.check) says what to do")
        }
        return Dictionary(uniqueKeysWithValues: all.map { ($0.check, $0.verdict) })
            .filter { $0.value != .fine }
    }

    @Test func `a sound realm has no security finding`() throws {
        #expect(try verdicts().isEmpty)
    }

    @Test(
        arguments: [
            (["links_base_url": .null], "issuer", .warning),
            (["links_base_url": "http://localhost:8080"], "issuer", .warning),
            (["access_token_lifetime": 7200], "token lifetimes", .warning),
            (["access_token_lifetime": 172_800], "token lifetimes", .wrong),
            (["refresh_token_lifetime": 31_536_000], "token lifetimes", .warning),
            (["code_lifetime": 120], "authorization codes", .warning),
            (["code_lifetime": 600], "authorization codes", .wrong),
            (["refresh_token_leeway": 60], "refresh tokens", .warning),
            (["client_registration": "open"], "client registration", .warning),
            (["client_assertion_for_token_url": true], "client assertions", .wrong),
            (
                ["assertion_issuers": ["https://a.example": ["subject": "email"]]],
                "assertion issuers", .warning
            ),
            (["passkey_attestation": "direct"], "attestation", .warning),
            (["login_passphrase": true], "passphrases", .warning),
            (["recent_sign_in": 0], "recent sign-in", .warning),
            (["rate_limits": ["native-otp": ["target": .null]]], "rates", .warning),
        ] as [(JSONObject, String, Diagnosis.Verdict)])
    func `each setting that weakens a realm is found, and no other`(
        settings: JSONObject, check: String, verdict: Diagnosis.Verdict
    ) throws {
        #expect(try verdicts(settings) == [check: verdict])
    }

    @Test func `a realm that trusts development keys or its own roots is warned`()
        throws
    {
        let flagship: JSONObject = ["profile": "flagship"]
        func verdicts(_ more: JSONObject) throws -> [String: Diagnosis.Verdict] {
            try self.verdicts(flagship.merging(more) { $1 })
        }
        #expect(try verdicts([:]).isEmpty)
        #expect(try verdicts(["app_attest_environment": "development"]) == ["App Attest": .wrong])
        #expect(try verdicts(["app_attest_roots": ["MII"]]) == ["App Attest": .warning])
        #expect(try verdicts(["safety_net": true]) == ["SafetyNet": .warning])
        #expect(
            try verdicts(["safety_net": true, "safety_net_demands": []])
                == ["SafetyNet": .warning])
        // Elsewhere nobody reads them.
        #expect(try self.verdicts(["app_attest_environment": "development"]).isEmpty)
    }

    @Test func `a private key in the log is named by where it is, and is wrong while it holds`() {
        var posture = RealmPosture(
            realm: "acme", settings: Identity.Settings(overrides: Self.sound))
        func found() -> Diagnosis {
            SecurityChecks(
                realm: posture, installation: InstallationPosture(), now: Self.now
            ).disclosedKeys()
        }
        #expect(found().verdict == .fine)
        posture.disclosedKeys.onRecord = ["safety_net_roots at position 7"]
        #expect(found().verdict == .warning && found().what.contains("roots at position 7"))
        posture.disclosedKeys.inForce = ["assertion_issuers"]
        #expect(found().verdict == .wrong && found().what.contains("assertion_issuers"))
    }

    @Test(
        arguments: [
            ("federation", ["untimed_requests": "once"]),
            ("federation", ["unsigned_discovery": true]), ("verify", ["tokens_unasked": true]),
            ("verify", ["short_event_numbers": true]),
        ] as [(String, JSONObject)])
    func `a realm that makes it easier for published clients is warned`(
        profile: String, settings: JSONObject
    ) throws {
        let usual = try verdicts(["profile": .string(profile)])
        let found = try verdicts(settings.merging(["profile": .string(profile)]) { $1 })
        #expect(found == usual.merging(["published clients": .warning]) { $1 })
        // Elsewhere nobody reads them.
        #expect(try verdicts(settings).isEmpty)
    }

    @Test(
        arguments: [
            (["redirect_uris": ["http://web.example.org/back"]], "redirect URIs", .wrong),
            (["redirect_uris": ["myapp:/back"]], "redirect URIs", .wrong),
            (["redirect_uris": ["http://localhost/back"]], "redirect URIs", .warning),
            (["access_token_lifetime": 7200], "token lifetimes", .warning),
            (
                ["access_token_lifetime": 7200, "access_token_format": "jwt"], "token lifetimes",
                .wrong
            ),
            (["profile": "voo"], "deviations", .warning),
            (["client_assertion_for_token_url": true], "client assertions", .warning),
            (["token_exchange": "impersonation"], "token exchange", .warning),
            (["forwards_addresses": true], "forwarded addresses", .warning),
            (
                ["jwks": ["keys": [["kty": "RSA", "e": "AQAB", "n": "AQAB"]]]], "client keys",
                .wrong
            ),
            (["jwks": ["keys": [["kty": "EC", "crv": "P-192"]]]], "client keys", .wrong),
            (["jwks": ["keys": [["kty": "oct", "k": "AA"]]]], "client keys", .wrong),
        ] as [(JSONObject, String, Diagnosis.Verdict)])
    func `each client setting that weakens a realm is found, and no other`(
        metadata: JSONObject, check: String, verdict: Diagnosis.Verdict
    ) throws {
        #expect(try verdicts(clients: [try client("odd", metadata)]) == [check: verdict])
    }

    @Test func `outdated keys and secrets are found`() throws {
        #expect(
            try verdicts(clients: [try client(secretDays: 400)]) == ["client secrets": .warning])
        #expect(
            try verdicts(clients: [try client(secretDays: 1200)]) == ["client secrets": .wrong])
        #expect(try verdicts(clients: [try client(secretDays: nil)]).isEmpty)
        #expect(try verdicts(keyDays: 400) == ["signing keys": .warning])
    }

    @Test func `a long leeway is a worse finding with public clients' unbound tokens`() throws {
        let settings: JSONObject = ["refresh_token_leeway": 120]
        let open: JSONObject = ["token_endpoint_auth_method": "none"]
        #expect(try verdicts(settings) == ["refresh tokens": .warning])
        #expect(
            try verdicts(settings, clients: [try client("app", open, secretDays: nil)])
                == ["refresh tokens": .wrong])
        let bound = open.merging(["dpop_bound_access_tokens": true]) { $1 }
        #expect(
            try verdicts(settings, clients: [try client("app", bound, secretDays: nil)])
                == ["refresh tokens": .warning])
    }

    @Test func `an app's own settings are security findings too`() throws {
        var posture = RealmPosture(
            realm: "acme", settings: Identity.Settings(overrides: Self.sound))
        posture.apps["shop"] = Identity.Settings(
            overrides: Self.sound.merging(["client_registration": "open"]) { $1 })
        let all = SecurityChecks(
            realm: posture, installation: InstallationPosture(), now: Self.now
        ).all()
        #expect(all.filter { $0.verdict != .fine }.map(\.check) == ["client registration"])
    }

    @Test func `the mail server's connection and the cookies are security findings`() {
        func verdict(_ host: String?, _ security: String) -> Diagnosis.Verdict {
            SecurityChecks.mail(InstallationPosture(smtpHost: host, smtpSecurity: security)).verdict
        }
        #expect(verdict(nil, "starttls") == .warning)
        #expect(verdict("mail.example.org", "none") == .wrong)
        #expect(verdict("mail.example.org", "tls") == .fine)
        for (cookies, verdict) in [
            (["__Host-a"], .fine), (["__Host-a", "b"], .wrong), ([], .wrong),
        ] as [([String], Diagnosis.Verdict)] {
            #expect(
                SecurityChecks.cookies(InstallationPosture(cookies: cookies)).verdict == verdict)
        }
    }

    @Test func `a client that trusts a sub that may be a person's is named`() throws {
        for (name, isMade, isNamed) in [
            ("0193a0e7-5e0c-7000-9000-2f6b1c1d9a10", false, true),
            ("0193a0e7-5e0c-7000-9000-2f6b1c1d9a10", true, false), ("web", false, false),
        ] {
            var odd = try client(name)
            odd.isNameMade = isMade
            #expect(try verdicts(clients: [odd])["client ids"] == (isNamed ? .warning : nil))
        }
    }

    @Test func `the reason for an inactive token needs the realm, the client and the token`()
        async throws
    {
        let folder = try File.makeTemporaryFolder("/tmp/urd-doctor-tests-")
        defer { try? File.removeTree(folder) }
        let file = folder + "/token"
        try File.writeAtomically(Array("urd_at_x\n".utf8), to: file, mode: 0o600)
        let notes = Notes()
        let program = Program(
            name: "urd", version: "0",
            commands: [
                Doctor(
                    tools: DoctorTools(
                        query: { _, _ in [] }, newestSchema: 6, now: { Self.now.microseconds },
                        introspection: { _, question in
                            #expect(question.realm == "demo" && question.client == "api")
                            #expect(question.token == "urd_at_x")
                            return .warning("introspection", "inactive: because", mend: "This.")
                        }))
            ], environment: Environment([:]), console: notes.console())
        let asked = ["doctor", "--introspection", file, "--realm", "demo"]
        #expect(await program.run(asked + ["--client", "api"]) == .success)
        #expect(notes.output.contains("inactive: because") && notes.output.contains("This."))
        #expect(await program.run(asked) == .failure)
        let missing = [
            "doctor", "--introspection", file + "x", "--realm", "demo", "--client", "api",
        ]
        #expect(await program.run(missing) == .failure)
    }

    @Test(arguments: [(nil, false), (0, false), (89, false), (90, true)] as [(Int?, Bool)])
    func `a derive key kept beside a newer one for ninety days is a finding`(
        days: Int?, isTold: Bool
    ) throws {
        var posture = RealmPosture(
            realm: "acme", settings: Identity.Settings(overrides: Self.sound))
        posture.deriveKeyOverlap = days
        let all = SecurityChecks(
            realm: posture, installation: InstallationPosture(), now: Self.now
        ).all()
        let found = try #require(all.first { $0.check == "derive key" })
        #expect((found.verdict == .warning) == isTold)
        #expect((found.remedy?.contains("keys retire-derive --realm acme") == true) == isTold)
    }

    @Test func `the security doctor's exit code tells findings, and its output names the realm`()
        async throws
    {
        let sound = RealmPosture(
            realm: "acme", settings: Identity.Settings(overrides: Self.sound),
            clients: [try client()])
        var weak = sound
        weak.clients = [try client("odd", ["redirect_uris": ["http://a.example/"]])]
        for (posture, code) in [(sound, ExitCode.success), (weak, .failure)] {
            let notes = Notes()
            let program = Program(
                name: "urd", version: "0",
                commands: [
                    Doctor(
                        tools: DoctorTools(
                            query: { _, _ in [] }, newestSchema: 6,
                            now: { Self.now.microseconds },
                            postures: { _, realm in realm == "nobody" ? [] : [posture] }))
                ], environment: Environment([:]), console: notes.console())
            #expect(await program.run(["doctor", "--security", "--json"]) == code)
            #expect(notes.output.contains("\"realm\": \"acme\""))
            #expect(await program.run(["doctor", "--security"]) == code)
            #expect(notes.output.contains("acme: redirect URIs"))
            #expect(await program.run(["doctor", "--security", "--realm", "nobody"]) == .failure)
        }
    }
}
