import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let token = UUID(high: 60, low: 60)
private let day: Int64 = 86_400

private func terms(uses: Int = 1, scope: [String] = []) -> RegistrationTerms {
    RegistrationTerms(
        label: "Partners", uses: uses, scope: scope, expiresAt: noon.adding(seconds: 7 * day))
}

private func realm(_ posture: String? = nil) -> Scenario {
    guard let posture else { return givenRealm() }
    return givenRealm().given(
        RealmEvent.settingsChanged(["client_registration": .string(posture)]), in: Realm.stream)
}

@Suite struct `Creating a registration token` {
    private func create(
        label: String = "Partners", uses: Int64 = 1, scope: String = "", days: Int64 = 7
    ) -> RegistrationTokenChange.Change<RegistrationTokenChange.CreateRejection> {
        RegistrationTokenChange.create(
            token, label: label, uses: uses, scope: scope, days: days, now: noon)
    }

    @Test func `creating a registration token sets its purpose, its uses and its scopes`()
        async throws
    {
        try await givenRealm().when(create(uses: 3, scope: "jobs mail"))
            .then(
                RegistrationTokenEvent.created(terms(uses: 3, scope: ["jobs", "mail"])),
                in: token)
    }

    @Test func `creating a registration token is refused without a realm or with invalid numbers`()
        async throws
    {
        try await given().when(create()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(create()).thenRejected(.realmDisabled)
        try await givenRealm().given(RegistrationTokenEvent.created(terms()), in: token)
            .when(create()).thenRejected(.idTaken)
        let wrong:
            [(RegistrationTokenChange.Change<RegistrationTokenChange.CreateRejection>, FieldFault)] =
                [
                    (create(label: ""), FieldFault("label", .malformed)),
                    (create(uses: 0), FieldFault("uses", .outOfRange(lowest: 1, highest: 10_000))),
                    (
                        create(uses: .max),
                        FieldFault("uses", .outOfRange(lowest: 1, highest: 10_000))
                    ),
                    (create(scope: "a a"), FieldFault("scope", .malformed)),
                    (create(scope: "\"a"), FieldFault("scope", .malformed)),
                    (
                        create(days: 366),
                        FieldFault("expires_in_days", .outOfRange(lowest: 1, highest: 365))
                    ),
                ]
        for (command, fault) in wrong {
            try await givenRealm().when(command).thenRejected(.invalid(fault))
        }
    }
}

@Suite struct `Revoking a registration token` {
    private let revoke = RegistrationTokenChange.revoke(token)

    @Test func `revoking a registration token ends it, once`() async throws {
        let made = givenRealm().given(RegistrationTokenEvent.created(terms()), in: token)
        try await made.when(revoke).then(RegistrationTokenEvent.revoked, in: token)
        try await made.given(RegistrationTokenEvent.revoked, in: token).when(revoke)
            .thenRejected(.notFound)
        try await givenRealm().when(revoke).thenRejected(.notFound)
        try await given().when(revoke).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(revoke).thenRejected(.realmDisabled)
    }
}

@Suite struct `A client that registers itself` {
    private let plain: JSONObject = [
        "token_endpoint_auth_method": "none", "redirect_uris": ["https://web.example.org/back"],
    ]

    private func register(
        _ more: JSONObject = [:], token: UUID? = nil, statement: JSONObject? = nil,
        app: UUID? = nil, at now: Timestamp = noon, secret: SecretDigest? = nil
    ) -> RegisterOwnClient {
        RegisterOwnClient(
            id: client, clientID: "web", metadata: plain.merging(more) { $1 }, secret: secret,
            app: app, token: token,
            statement: statement.map { SoftwareStatement("a.b.c", claims: $0) }, now: now)
    }

    private func made(_ more: JSONObject = [:]) throws -> ClientEvent {
        // Nobody answers for where its tokens are good.
        let all = plain.merging(["resources_listed_only": true]) { $1 }
        return try registered(all.merging(more) { $1 }, secret: nil)
    }

    private var claim: Claim { Claim("client_id", "web") }

    @Test func `a self-registration is accepted where the realm is open for it`() async throws {
        try await realm("open").when(register()).then(made(), in: client, taking: [claim])
        try await realm("open").when(register(["unheard_of": true, "scope": "openid email"]))
            .then(made(["scope": "openid email"]), in: client, taking: [claim])
        try await realm().when(register()).thenRejected(.closed)
        try await realm("closed").when(register()).thenRejected(.closed)
        try await realm("initial_access_token").when(register()).thenRejected(.tokenNeeded)
        try await realm("software_statement").when(register()).thenRejected(.statementNeeded)
        try await given().when(register()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(register()).thenRejected(.realmDisabled)
    }

    @Test(
        arguments: [
            ("audiences", ["https://api.example.org"]), ("introspects_all_tokens", true),
            ("forwards_addresses", true),
            ("access_token_lifetime", 600_000), ("refresh_token_lifetime", 259_200_000),
            ("webauthn_rp_id", "acme.example"), ("access_token_format", "jwt"),
            ("client_assertion_for_token_url", true),
            ("app_id", "00000000-0000-0002-0000-000000000002"),
        ] as [(String, JSON)])
    func `a self-registration gets no members that only administrators set`(
        _ name: String, _ value: JSON
    ) async throws {
        let fault = RegisterOwnClient.Rejection.refused(
            .invalid(FieldFault(name, .reserved)))
        try await realm("open").when(register([name: value])).thenRejected(fault)
        let withToken = realm("open").given(RegistrationTokenEvent.created(terms()), in: token)
        try await withToken.when(register([name: value], token: token)).thenRejected(fault)
        // A maker's word does not give it either: it is passed over.
        try await realm("open").when(register(statement: [name: value]))
            .then(made(["software_statement": "a.b.c"]), in: client, taking: [claim])
    }

    @Test(arguments: [
        "client_credentials", "urn:cocoar:otp", "urn:cocoar:magic", "urn:cocoar:passkey",
    ])
    func `a self-registration is refused grants for known clients`(
        _ grant: String
    ) async throws {
        try await realm("open").when(register(["grant_types": [.string(grant)]]))
            .thenRejected(.refused(.invalid(FieldFault("grant_types", .reserved, at: 0))))
    }

    @Test func `a self-registration is left without scopes that it may not have`() async throws {
        try await realm("open").when(register(["scope": "openid jobs"]))
            .then(made(["scope": "openid"]), in: client, taking: [claim])
        let open = realm("initial_access_token").given(
            RegistrationTokenEvent.created(terms(scope: ["jobs"])), in: token)
        var expected = Decision(RegistrationTokenEvent.used(client: client, at: noon), in: token)
        expected.append(try made(["scope": "openid jobs"]), in: client)
        expected.take(claim, for: client)
        try await open.when(register(["scope": "openid jobs"], token: token)).then(expected)
    }

    @Test(arguments: ["events.read", "ssf.read", "ssf.manage"])
    func `a self-registration is not given the realm's events, whatever names them`(
        scope: String
    ) async throws {
        let asked: JSONObject = ["scope": .string("openid \(scope)")]
        let open = realm("open").given(
            RegistrationTokenEvent.created(terms(scope: [scope])), in: token)
        var expected = Decision(RegistrationTokenEvent.used(client: client, at: noon), in: token)
        expected.append(try made(["scope": "openid"]), in: client)
        expected.take(claim, for: client)
        try await open.when(register(asked, token: token)).then(expected)
        let listed = realm("open").given(
            RealmEvent.settingsChanged([
                "client_registration": "open", "unchecked_scopes": [.string(scope)],
            ]), in: Realm.stream)
        try await listed.when(register(asked))
            .then(made(["scope": "openid"]), in: client, taking: [claim])
    }

    @Test func `a self-registration is given the scopes that its realm lists for it`() async throws
    {
        let listed = realm("open").given(
            RealmEvent.settingsChanged([
                "client_registration": "open", "unchecked_scopes": ["jobs", "orders"],
            ]), in: Realm.stream)
        try await listed.when(register(["scope": "openid jobs pay orders"]))
            .then(made(["scope": "openid jobs orders"]), in: client, taking: [claim])
        let known = listed.given(try made(["scope": "openid"]), in: client)
        let update = UpdateOwnClient(
            id: client, metadata: plain.merging(["scope": "openid jobs pay"]) { $1 })
        let after = plain.merging([
            "resources_listed_only": true, "consent": "needed", "scope": "openid jobs",
        ]) { $1 }
        try await known.when(update)
            .then(ClientEvent.updated(try ClientMetadata(after)), in: client)
    }

    @Test func `a self-registration leaves out standard scopes that the realm does not offer`()
        async throws
    {
        try await realm("open").when(register(["scope": "openid email phone address profile"]))
            .then(made(["scope": "openid email phone profile"]), in: client, taking: [claim])
        try await realm("open").when(register(["scope": "address"]))
            .then(made(), in: client, taking: [claim])
        for other in ["openid phone jobs", "openid phone *", "openid Phone phone address:all"] {
            try await realm("open").when(register(["scope": .string(other)]))
                .then(made(["scope": "openid phone"]), in: client, taking: [claim])
        }
        // Where somebody who manages the realm gave one of that name, it is one like others.
        let given = realm("initial_access_token").given(
            RegistrationTokenEvent.created(terms(scope: ["phone"])), in: token)
        var expected = Decision(RegistrationTokenEvent.used(client: client, at: noon), in: token)
        expected.append(try made(["scope": "openid phone"]), in: client)
        expected.take(claim, for: client)
        try await given.when(register(["scope": "openid phone address"], token: token))
            .then(expected)
    }

    @Test func `a self-registration by a token succeeds as often as the token allows`() async throws
    {
        let used = RegistrationTokenEvent.used(client: app, at: noon)
        for posture in ["initial_access_token", "software_statement", "open"] {
            let made = realm(posture).given(RegistrationTokenEvent.created(terms()), in: token)
            for bad in [
                realm(posture), made.given(used, in: token),
                made.given(RegistrationTokenEvent.revoked, in: token),
            ] { try await bad.when(register(token: token)).thenRejected(.invalidToken) }
            try await made.when(register(token: token, at: noon.adding(seconds: 7 * day)))
                .thenRejected(.invalidToken)
        }
    }

    @Test func `a self-registration takes the values of its software statement first`() async throws
    {
        let statement: JSONObject = [
            "iss": "https://maker.example", "client_name": "Maker's", "scope": "email",
            "redirect_uris": ["https://maker.example/back"], "client_uri": .null,
        ]
        let own: JSONObject = [
            "client_name": "Mine", "scope": "openid", "client_uri": "https://mine.example",
            "software_statement": "a.b.c",
        ]
        try await realm("software_statement").when(register(own, statement: statement))
            .then(
                made([
                    "client_name": "Maker's", "scope": "email",
                    "redirect_uris": ["https://maker.example/back"],
                    "client_uri": "https://mine.example", "software_statement": "a.b.c",
                ]), in: client, taking: [claim])
    }

    @Test func `a self-registration gets no more by a software statement than without`()
        async throws
    {
        for grant in GrantType.allCases
        where ![.authorizationCode, .refreshToken, .deviceCode].contains(grant) {
            let asked: JSONObject = ["grant_types": [.string(grant.rawValue)]]
            let fault = RegisterOwnClient.Rejection.refused(
                .invalid(FieldFault("grant_types", .reserved, at: 0)))
            for posture in ["software_statement", "open"] {
                try await realm(posture).when(register(statement: asked)).thenRejected(fault)
                try await realm(posture).when(register(asked, statement: [:])).thenRejected(fault)
            }
        }
        let scope: JSONObject = ["scope": "openid jobs"]
        try await realm("software_statement").when(register(statement: scope)).then(
            made(["scope": "openid", "software_statement": "a.b.c"]), in: client, taking: [claim])
        // Somebody who manages the realm gives more, whoever speaks for the client.
        let withToken = realm("software_statement").given(
            RegistrationTokenEvent.created(terms(scope: ["jobs"])), in: token)
        var expected = Decision(RegistrationTokenEvent.used(client: client, at: noon), in: token)
        expected.append(
            try made(["scope": "openid jobs", "software_statement": "a.b.c"]), in: client)
        expected.take(claim, for: client)
        try await withToken.when(register(token: token, statement: scope)).then(expected)
    }

    @Test func `a self-registration at an app's host belongs to the app`() async throws {
        let settings = AppEvent.Change(settings: ["client_registration": "open"])
        let shop = givenRealm().given(
            AppEvent.created(slug: "shop", name: "Shop"), AppEvent.updated(settings), in: app)
        try await shop.when(register(app: app))
            .then(
                made(["app_id": .string(app.description)]), in: client, taking: [claim])
        try await shop.when(register()).thenRejected(.closed)
    }

    @Test func `a self-registration under a taken id is refused`() async throws {
        try await realm("open").given(made(), in: client).when(register())
            .thenRejected(.refused(.idTaken))
        try await realm("open").when(register(["redirect_uris": ["https://a.example/#x"]]))
            .thenRejected(.refused(.invalid(FieldFault("redirect_uris", .hasFragment, at: 0))))
        try await realm("open").when(register())
            .thenRejected(.refused(.clientIDTaken), whenTaken: claim)
    }
}

@Suite struct `Issuers that a realm trusts` {
    private func set(_ value: JSON) -> RealmChange.Change<RealmChange.SetSettingsRejection> {
        RealmChange.setSettings(["software_statement_issuers": value])
    }

    private func refused(_ reason: FieldFault.Reason) -> RealmChange.SetSettingsRejection {
        .invalid(FieldFault("software_statement_issuers", reason))
    }

    @Test func `a realm's trusted issuers have keys, here or at an address`() async throws {
        let keys: JSON = ["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AA"]]]
        let good: JSON = [
            "https://a.example": ["jwks": keys],
            "https://b.example": ["jwks_uri": "https://b.example/keys", "subject": "email"],
        ]
        try await givenRealm().when(set(good))
            .then(
                RealmEvent.settingsChanged(["software_statement_issuers": good]),
                in: Realm.stream)
        let wrong: [(JSON, FieldFault.Reason)] = [
            (["https://a.example": [:]], .missing), ("x", .wrongType(expected: .object)),
            (["https://a.example": "x"], .wrongType(expected: .object)),
            (["": ["jwks": keys]], .malformed),
            (["a": ["jwks": keys, "jwks_uri": "https://a.example"]], .conflicts(with: "jwks_uri")),
            (["a": ["jwks_uri": "http://127.0.0.1/keys"]], .unsafeScheme),
            (["a": ["jwks_uri": 1]], .wrongType(expected: .text)),
            (["a": ["jwks": ["keys": [["kty": "oct", "k": "AA"]]]]], .privateKey),
            (["a": ["jwks": keys, "subject": "name"]], .unsupported),
            (["a": ["jwks": keys, "subject": 1]], .wrongType(expected: .text)),
            (["a": ["jwks": keys, "other": 1]], .unsupported),
            (
                .object(
                    JSONObject(
                        (0..<21).map { ("a\($0)", ["jwks": keys]) })),
                .tooMany(limit: 20)
            ),
        ]
        for (value, reason) in wrong {
            try await givenRealm().when(set(value)).thenRejected(refused(reason))
        }
    }
}
