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
    ) -> CreateRegistrationToken {
        CreateRegistrationToken(
            id: token, label: label, uses: uses, scope: scope, days: days, now: noon)
    }

    @Test func `says for whom it is, for how many, and what they may ask for`() async throws {
        try await givenRealm().when(create(uses: 3, scope: "jobs mail"))
            .then(
                RegistrationTokenEvent.created(terms(uses: 3, scope: ["jobs", "mail"])),
                in: token)
    }

    @Test func `is refused where there is no realm, or numbers make no sense`() async throws {
        try await given().when(create()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(create()).thenRejected(.realmDisabled)
        try await givenRealm().given(RegistrationTokenEvent.created(terms()), in: token)
            .when(create()).thenRejected(.idTaken)
        let wrong: [(CreateRegistrationToken, FieldFault)] = [
            (create(label: ""), FieldFault("label", .malformed)),
            (create(uses: 0), FieldFault("uses", .outOfRange(lowest: 1, highest: 10_000))),
            (create(uses: .max), FieldFault("uses", .outOfRange(lowest: 1, highest: 10_000))),
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
    private let revoke = RevokeRegistrationToken(id: token)

    @Test func `ends it, once`() async throws {
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
            app: app, token: token, statement: statement, now: now)
    }

    private func made(_ more: JSONObject = [:]) throws -> ClientEvent {
        // Nobody answers for where its tokens are good.
        let all = plain.merging(["resources_listed_only": true]) { $1 }
        return try registered(all.merging(more) { $1 }, secret: nil)
    }

    private var claim: Claim { Claim("client_id", "web") }

    @Test func `is let in where the realm is open`() async throws {
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
    func `is given nothing that is an administrator's to give`(
        _ name: String, _ value: JSON
    ) async throws {
        let fault = RegisterOwnClient.Rejection.refused(
            .invalid(FieldFault(name, .reserved)))
        try await realm("open").when(register([name: value])).thenRejected(fault)
        let withToken = realm("open").given(RegistrationTokenEvent.created(terms()), in: token)
        try await withToken.when(register([name: value], token: token)).thenRejected(fault)
        // A maker's word does not give it either: it is passed over.
        try await realm("open").when(register(statement: [name: value]))
            .then(made(), in: client, taking: [claim])
    }

    @Test(arguments: [
        "client_credentials", "urn:cocoar:otp", "urn:cocoar:magic", "urn:cocoar:passkey",
    ])
    func `may not use grants that are for those whom the realm knows`(
        _ grant: String
    ) async throws {
        try await realm("open").when(register(["grant_types": [.string(grant)]]))
            .thenRejected(.refused(.invalid(FieldFault("grant_types", .reserved, at: 0))))
    }

    @Test func `may not ask for what only some may have`() async throws {
        try await realm("open").when(register(["scope": "openid jobs"]))
            .thenRejected(.refused(.invalid(FieldFault("scope", .reserved, at: 1))))
        let open = realm("initial_access_token").given(
            RegistrationTokenEvent.created(terms(scope: ["jobs"])), in: token)
        var expected = Decision(RegistrationTokenEvent.used(client: client, at: noon), in: token)
        expected.append(try made(["scope": "openid jobs"]), in: client)
        expected.take(claim, for: client)
        try await open.when(register(["scope": "openid jobs"], token: token)).then(expected)
    }

    @Test func `is registered without the standard scopes that are not offered here`()
        async throws
    {
        try await realm("open").when(register(["scope": "openid email phone address profile"]))
            .then(made(["scope": "openid email profile"]), in: client, taking: [claim])
        try await realm("open").when(register(["scope": "phone"]))
            .then(made(), in: client, taking: [claim])
        for privileged in ["openid phone jobs", "*", "Phone", "address:all"] {
            let index = privileged.split(separator: " ").count - 1
            try await realm("open").when(register(["scope": .string(privileged)]))
                .thenRejected(.refused(.invalid(FieldFault("scope", .reserved, at: index))))
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

    @Test func `comes by a token as often as that is good`() async throws {
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

    @Test func `is what its maker says, whatever it says itself`() async throws {
        let statement: JSONObject = [
            "iss": "https://maker.example", "client_name": "Maker's", "scope": "jobs",
        ]
        try await realm("software_statement")
            .when(register(["client_name": "Mine"], statement: statement))
            .then(
                made(["client_name": "Maker's", "scope": "jobs"]), in: client, taking: [claim])
    }

    @Test func `belongs to the app at whose host it came`() async throws {
        let settings = AppEvent.Change(settings: ["client_registration": "open"])
        let shop = givenRealm().given(
            AppEvent.created(slug: "shop", name: "Shop"), AppEvent.updated(settings), in: app)
        try await shop.when(register(app: app))
            .then(
                made(["app_id": .string(app.description)]), in: client, taking: [claim])
        try await shop.when(register()).thenRejected(.closed)
    }

    @Test func `is refused as one that others register`() async throws {
        try await realm("open").given(made(), in: client).when(register())
            .thenRejected(.refused(.idTaken))
        try await realm("open").when(register(["redirect_uris": ["https://a.example/#x"]]))
            .thenRejected(.refused(.invalid(FieldFault("redirect_uris", .hasFragment, at: 0))))
        try await realm("open").when(register())
            .thenRejected(.refused(.clientIDTaken), whenTaken: claim)
    }
}

@Suite struct `A client that changes what it said` {
    private let plain: JSONObject = [
        "token_endpoint_auth_method": "none", "redirect_uris": ["https://web.example.org/back"],
    ]

    private func update(_ more: JSONObject = [:]) -> UpdateOwnClient {
        UpdateOwnClient(
            id: client,
            metadata: plain.merging(["client_id": "web"]) { $1 }.merging(more) { $1 })
    }

    private func known(_ more: JSONObject = [:]) throws -> Scenario {
        realm("open").given(
            try registered(plain.merging(more) { $1 }, secret: nil), in: client)
    }

    @Test func `replaces it, and keeps what it was given`() async throws {
        let given: JSONObject = [
            "audiences": ["https://api.example.org"], "client_name": "Old", "scope": "jobs",
        ]
        let after = try ClientMetadata(
            plain.merging(["audiences": ["https://api.example.org"], "scope": "jobs openid"]) {
                $1
            })
        try await known(given).when(update(["scope": "jobs openid"]))
            .then(ClientEvent.updated(after), in: client)
        // Also by sending back all that it was told.
        try await known(given)
            .when(update(["scope": "jobs openid", "audiences": ["https://api.example.org"]]))
            .then(ClientEvent.updated(after), in: client)
    }

    @Test func `asks its people again where it leads them to places that nobody has looked at`()
        async throws
    {
        let back = "https://web.example.org/back"
        let given: JSONObject = [
            "consent": "none", "redirect_uris": [.string(back), "org.web:/a"],
        ]
        for (places, consent) in [
            ([.string(back)], "none"), (["org.web:/a", .string(back)], "none"),
            ([.string(back), "https://evil.example/back"], "needed"), (["org.web:/b"], "needed"),
        ] as [([JSON], JSON)] {
            let after = plain.merging(["redirect_uris": .array(places), "consent": consent]) { $1 }
            // It sends back what it was told.
            try await known(given)
                .when(update(["redirect_uris": .array(places), "consent": "none"]))
                .then(ClientEvent.updated(try ClientMetadata(after)), in: client)
        }
    }

    @Test func `gives itself nothing more`() async throws {
        for (name, value) in [
            ("audiences", ["https://other.example"]), ("introspects_all_tokens", true),
        ] as [(String, JSON)] {
            try await known().when(update([name: value]))
                .thenRejected(.invalid(FieldFault(name, .reserved)))
        }
        try await known().when(update(["scope": "openid phone jobs"]))
            .thenRejected(.invalid(FieldFault("scope", .reserved, at: 2)))
        try await known().when(update(["scope": "jobs"]))
            .thenRejected(.invalid(FieldFault("scope", .reserved, at: 0)))
        try await known().when(update(["grant_types": ["client_credentials"]]))
            .thenRejected(.invalid(FieldFault("grant_types", .reserved, at: 0)))
    }

    @Test func `is refused where it is not there, or is another`() async throws {
        try await realm("open").when(update()).thenRejected(.notFound)
        try await known().given(ClientEvent.deleted, in: client).when(update())
            .thenRejected(.notFound)
        try await known().when(update(["client_id": "other"]))
            .thenRejected(.invalid(FieldFault("client_id", .mismatch)))
        try await given().when(update()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(update()).thenRejected(.realmDisabled)
    }
}

@Suite struct `Issuers that a realm trusts` {
    private func set(_ value: JSON) -> SetRealmSettings {
        SetRealmSettings(["software_statement_issuers": value])
    }

    private func refused(_ reason: FieldFault.Reason) -> SetRealmSettings.Rejection {
        .invalid(FieldFault("software_statement_issuers", reason))
    }

    @Test func `have keys, here or at an address`() async throws {
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
