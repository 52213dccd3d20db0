import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let passkey = UUID(high: 9, low: 9)
/// A ceremony that began at noon.
let ceremony = UUID.v7At(noon)

extension UUID {
    fileprivate static func v7At(_ time: Timestamp) -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: time, using: &random)
    }
}

func credential(
    counter: Int64 = 0, isBackupEligible: Bool = true, isUserVerified: Bool = true
) -> CredentialRecord {
    CredentialRecord(
        id: [1, 2, 3], publicKey: [4, 5], counter: counter, isBackupEligible: isBackupEligible,
        isBackedUp: false, isUserVerified: isUserVerified, model: UUID(high: 1, low: 2),
        transports: ["hybrid", "internal"], format: "none", attestation: "none",
        isTrusted: false)
}

func enrolled(_ key: CredentialRecord = credential()) -> PasskeyEvent {
    .enrolled(
        EnrolledPasskey(
            account: account, client: client, relyingParty: "acme.example", key: key,
            enrolledAt: noon, mail: code))
}

/// A realm of people with passkeys, and one of its accounts.
func givenPasskeyRealm(
    _ settings: JSONObject = [:], metadata: JSONObject = [:]
) throws -> Scenario {
    try givenNativeRealm(
        (["primary_domain": "acme.example:8443"] as JSONObject).merging(settings) { $1 },
        metadata: ([
            "grant_types": ["urn:cocoar:passkey", "refresh_token"], "response_types": [],
        ] as JSONObject).merging(metadata) { $1 }
    ).given(registeredAccount(), in: account)
}

@Suite struct `Enrolling a passkey` {
    func enroll(
        _ proof: EnrollPasskey.Proof = .verified(credential()), at: Timestamp = noon,
        domain: String = "acme.example", signedIn: Timestamp = noon
    ) -> EnrollPasskey {
        EnrollPasskey(
            ceremony: ceremony, account: account,
            session: SignedIn(client: client, app: nil, at: signedIn), relyingParty: domain,
            proof: proof, mail: code, now: at)
    }

    func refused(_ reason: String) -> PasskeyEvent {
        .enrollmentRefused(account: account, reason: reason)
    }

    @Test func `enrolling a passkey claims the credential for the account`() async throws {
        try await givenPasskeyRealm().when(enroll()).then(
            enrolled(), in: ceremony, taking: [Passkey.claim([1, 2, 3])])
    }

    @Test func `enrolling a passkey with a faulty answer is recorded and uses the ceremony up`()
        async throws
    {
        let realm = try givenPasskeyRealm()
        try await realm.when(enroll(.refused(reason: "signature"))).then(
            refused("signature"), in: ceremony)
        try await realm.when(enroll(at: noon.adding(seconds: 300))).then(
            refused("ceremony_expired"), in: ceremony)
        try await realm.when(enroll(domain: "evil.example")).then(
            refused("other_relying_party"), in: ceremony)
        for event in [refused("signature"), enrolled()] {
            try await realm.given(event, in: ceremony).when(enroll()).thenRejected(.ceremonyUsed)
        }
    }

    @Test func `enrolling a passkey of another account is refused`() async throws {
        try await givenPasskeyRealm().when(enroll()).thenRejected(
            .credentialTaken, whenTaken: Passkey.claim([1, 2, 3]))
    }

    @Test func `enrolling a passkey needs an active realm, client and account`() async throws {
        try await given().when(enroll()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(enroll()).thenRejected(.realmDisabled)
        try await givenPasskeyRealm(["native_grants": .null]).when(enroll()).thenRejected(
            .nativeGrantsDisabled)
        let realm = try givenPasskeyRealm()
        try await realm.given(AccountEvent.disabled(), in: account).when(enroll()).thenRejected(
            .notWelcome)
        try await realm.given(AccountEvent.deleted(subjects: []), in: account).when(enroll())
            .thenRejected(
                .notWelcome)
        try await realm.given(ClientEvent.disabled, in: client).when(enroll()).thenRejected(
            .notWelcome)
        try await realm.given(ClientEvent.deleted, in: client).when(enroll()).thenRejected(
            .notWelcome)
    }

    @Test func `enrolling a passkey needs a recent sign-in`() async throws {
        let realm = try givenPasskeyRealm(["recent_sign_in": 60])
        let old = noon.adding(seconds: -60)
        try await realm.when(enroll(signedIn: old)).thenRejected(.signInTooOld(limit: 60))
        try await realm.when(enroll(signedIn: old.adding(seconds: 1))).then(
            enrolled(), in: ceremony, taking: [Passkey.claim([1, 2, 3])])
        try await givenPasskeyRealm(["recent_sign_in": 0])
            .when(enroll(signedIn: Timestamp(seconds: 0))).then(
                enrolled(), in: ceremony, taking: [Passkey.claim([1, 2, 3])])
    }
}

@Suite struct `Naming a passkey` {
    func rename(_ name: String = "Phone", of other: UUID = account)
        -> PasskeyChange.Change<PasskeyChange.RenameRejection>
    {
        PasskeyChange.rename(passkey, account: other, name: name)
    }

    @Test func `naming a passkey seals the name as personal`() async throws {
        try await givenRealm().given(enrolled(), in: passkey).when(rename()).then(
            PasskeyEvent.renamed("Phone", account: account), in: passkey)
    }

    @Test func `naming a passkey needs its owner and a printable name`() async throws {
        let realm = givenRealm().given(enrolled(), in: passkey)
        try await realm.when(rename(of: client)).thenRejected(.notFound)
        try await realm.when(rename("a\u{202E}b")).thenRejected(
            .invalid(FieldFault("DisplayName", .malformed)))
        try await realm.given(PasskeyEvent.removed(account: account, mail: code), in: passkey)
            .when(rename()).thenRejected(.notFound)
        try await givenRealm().when(rename()).thenRejected(.notFound)
        try await given().when(rename()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(rename()).thenRejected(.realmDisabled)
    }
}

@Suite struct `Deleting a passkey` {
    func delete(of other: UUID = account, signedIn: Timestamp = noon) -> DeletePasskey {
        DeletePasskey(
            passkey: passkey, account: other,
            session: SignedIn(client: client, app: nil, at: signedIn), mail: code, now: noon)
    }

    @Test func `deleting a passkey releases the credential and notifies the owner`() async throws {
        try await givenRealm().given(enrolled(), in: passkey).when(delete()).then(
            PasskeyEvent.removed(account: account, mail: code), in: passkey,
            releasing: [Passkey.claim([1, 2, 3])])
    }

    @Test func `deleting a passkey works for its owner alone, once`() async throws {
        let realm = givenRealm().given(enrolled(), in: passkey)
        try await realm.when(delete(of: client)).thenRejected(.notFound)
        try await realm.given(PasskeyEvent.removed(account: account, mail: code), in: passkey)
            .when(delete()).thenRejected(.notFound)
        try await givenRealm()
            .given(PasskeyEvent.enrollmentRefused(account: account, reason: "x"), in: passkey)
            .when(delete()).thenRejected(.notFound)
        try await given().when(delete()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(delete()).thenRejected(.realmDisabled)
    }

    @Test func `deleting a passkey needs a recent sign-in`() async throws {
        try await givenRealm().given(enrolled(), in: passkey)
            .when(delete(signedIn: noon.adding(seconds: -86_400)))
            .thenRejected(.signInTooOld(limit: 86_400))
    }
}

@Suite struct `Redeeming a passkey` {
    func redeem(
        _ proof: PasskeyGrant.Proof, in ceremony: UUID? = ceremony, at: Timestamp = noon,
        scope: [String] = []
    ) -> RedeemGrant<PasskeyGrant> {
        RedeemGrant(
            PasskeyGrant(ceremony: ceremony, proof: proof),
            GrantRequest(
                client: client, clientID: "web", proof: .none, scope: scope, session: session,
                now: at))
    }

    func use(
        counter: Int64 = 0, isBackupEligible: Bool = true, domain: String = "acme.example",
        isRemembered: Bool = false
    ) -> PasskeyGrant.Proof {
        .verified(
            PasskeyUse(
                passkey: passkey, relyingParty: domain, counter: counter,
                isBackupEligible: isBackupEligible, isBackedUp: true,
                isRemembered: isRemembered))
    }

    func refused(
        _ reason: String, account: UUID? = account, in stream: UUID = ceremony
    ) -> Decision {
        Decision(
            SessionEvent.refused(
                RefusedSignIn(
                    method: .nativePasskey, reason: reason, account: account, client: client,
                    clientID: "web", app: nil, from: SignInPlace())), in: stream)
    }

    func opened(counter: Int64 = 0) -> Decision {
        var decision = Decision(
            PasskeyEvent.used(counter: counter, isBackedUp: true, at: noon), in: passkey)
        decision.append(
            SessionEvent.opened(
                SessionTerms(
                    account: account, stamp: 0, client: client, clientID: "web", app: nil,
                    scope: [], resources: [], factors: [.passkey], openedAt: noon,
                    expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: false,
                    method: .nativePasskey)),
            in: ceremony)
        return decision
    }

    @Test func `redeeming a passkey opens a session with the ceremony's id`() async throws {
        try await givenPasskeyRealm().given(enrolled(), in: passkey).when(redeem(use()))
            .then(opened())
        try await givenPasskeyRealm().given(enrolled(credential(counter: 4)), in: passkey)
            .when(redeem(use(counter: 5))).then(opened(counter: 5))
    }

    @Test func `redeeming a passkey records every refused answer`() async throws {
        let realm = try givenPasskeyRealm()
        try await realm.when(redeem(.refused(reason: "signature", account: account))).then(
            refused("signature"))
        try await realm.when(redeem(.nothing)).then(refused("assertion_missing", account: nil))
        try await realm.when(redeem(use())).then(refused("unknown_passkey", account: nil))
        let known = realm.given(enrolled(credential(counter: 4)), in: passkey)
        try await known.when(redeem(use(counter: 4))).then(refused("counter_went_back"))
        try await known.when(redeem(use(counter: 0))).then(refused("counter_went_back"))
        try await known.when(redeem(use(counter: 5, isBackupEligible: false))).then(
            refused("backup_eligibility_changed"))
        try await known.when(redeem(use(counter: 5, domain: "evil.example"))).then(
            refused("other_relying_party"))
        try await known.when(redeem(use(counter: 5), at: noon.adding(seconds: 300))).then(
            refused("ceremony_expired"))
        try await known.given(AccountEvent.disabled(), in: account)
            .when(redeem(use(counter: 5))).then(refused("account_blocked"))
        try await known.given(PasskeyEvent.removed(account: account, mail: code), in: passkey)
            .when(redeem(use(counter: 5))).then(refused("unknown_passkey"))
        try await realm.given(enrolled(credential(isUserVerified: false)), in: passkey)
            .when(redeem(use())).then(refused("enrolled_without_user_verification"))
    }

    @Test func `redeeming a passkey from a cache that is stale records nothing`() async throws {
        let realm = try givenPasskeyRealm()
        let gone = realm.given(enrolled(), in: passkey)
            .given(PasskeyEvent.removed(account: account, mail: code), in: passkey)
        for realm in [realm, gone] {
            try await realm.when(redeem(use(isRemembered: true))).thenRejected(.passkeyOutdated)
        }
        try await realm.given(enrolled(), in: passkey)
            .when(redeem(use(isRemembered: true))).then(opened())
    }

    @Test func `redeeming a passkey checks the counter of the last use`() async throws {
        let realm = try givenPasskeyRealm().given(
            enrolled(), PasskeyEvent.used(counter: 9, isBackedUp: true, at: noon), in: passkey)
        try await realm.when(redeem(use(counter: 9))).then(refused("counter_went_back"))
        try await realm.when(redeem(use(counter: 10))).then(opened(counter: 10))
    }

    @Test func `redeeming a passkey uses a ceremony once, and a repeat gets its own id`()
        async throws
    {
        let realm = try givenPasskeyRealm().given(enrolled(), in: passkey)
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil, scope: [],
            resources: [], factors: [.passkey], openedAt: noon, expiresAt: noon,
            isOffline: false)
        let failed = RefusedSignIn(
            method: .nativePasskey, reason: "signature", account: nil, client: client,
            clientID: "web", app: nil, from: SignInPlace())
        for event in [SessionEvent.opened(terms), .refused(failed)] {
            try await realm.given(event, in: ceremony).when(redeem(use())).then(
                refused("ceremony_used", in: session))
        }
    }

    @Test func `redeeming a passkey with a made-up ceremony records nothing`() async throws {
        try await givenPasskeyRealm().given(enrolled(), in: passkey)
            .when(redeem(use(), in: nil)).thenRejected(.unknownCeremony)
    }

    @Test func `redeeming a passkey needs the client's present domain`() async throws {
        let realm = try givenPasskeyRealm(metadata: ["webauthn_rp_id": "a.acme.example"])
            .given(enrolled(), in: passkey)
        try await realm.when(redeem(use())).then(refused("other_relying_party"))
    }

    @Test func `redeeming a passkey needs the client's permission`() async throws {
        try await givenPasskeyRealm(metadata: ["grant_types": ["refresh_token"]])
            .when(redeem(use())).thenRejected(.unauthorizedClient)
    }

    @Test func `redeeming a passkey for a refused scope uses the ceremony up`() async throws {
        let realm = try givenPasskeyRealm().given(enrolled(), in: passkey)
        try await realm.when(redeem(use(), scope: ["admin"])).then(refused("scope_refused"))
        try await realm.when(redeem(use(), in: nil, scope: ["admin"]))
            .thenRejected(.unknownCeremony)
    }
}

@Suite struct `The domain of passkeys` {
    private func domain(
        _ settings: JSONObject, chosenBy client: String? = nil
    ) -> String? {
        PasskeyDomain.id(Identity.Settings(overrides: settings), chosenBy: client)
    }

    @Test func `a passkey domain is the primary one without its port, unless set otherwise`() {
        #expect(domain([:]) == nil)
        #expect(domain(["primary_domain": "acme.example:8443"]) == "acme.example")
        #expect(domain(["primary_domain": "localhost:8080"]) == "localhost")
        #expect(
            domain(["primary_domain": "id.acme.example", "webauthn_rp_id": "acme.example"])
                == "acme.example")
        for host in ["127.0.0.1", "example"] {
            #expect(domain(["primary_domain": .string(host)]) == nil)
        }
    }

    @Test func `a passkey domain of a client must be at or below the realm's`() {
        let settings: JSONObject = [
            "primary_domain": "id.acme.example", "webauthn_rp_id": "shop.example",
        ]
        for host in ["id.acme.example", "a.id.acme.example", "shop.example", "a.b.shop.example"] {
            #expect(domain(settings, chosenBy: host) == host)
        }
        for host in [
            "acme.example", "xid.acme.example", ".shop.example", "example", "shop.example.",
            "shop.example:1", "evil.example",
        ] {
            #expect(domain(settings, chosenBy: host) == nil, "\(host)")
        }
        #expect(domain([:], chosenBy: "acme.example") == nil)
    }

    @Test func `a passkey domain and its settings are checked when they are set`() throws {
        let cases: [(String, JSON, Bool)] = [
            ("webauthn_rp_id", "acme.example", true), ("webauthn_rp_id", "localhost", true),
            ("webauthn_rp_id", "example", false), ("webauthn_rp_id", "10.0.0.1", false),
            ("webauthn_rp_id", "acme.example:1", false), ("webauthn_rp_id", "A.example", false),
            ("passkey_origins", [], true),
            ("passkey_origins", ["https://a.example", "https://a.example:8443"], true),
            ("passkey_origins", ["http://localhost:8080"], true),
            ("passkey_origins", ["http://a.example"], false),
            ("passkey_origins", ["https://a.example/"], false),
            ("passkey_origins", ["https://a.example:443"], false),
            ("passkey_origins", ["https://A.example"], false),
            ("passkey_origins", ["https://a@b.example"], false),
            ("passkey_origins", ["https://a.example?b"], false),
            ("passkey_origins", ["a.example"], false), ("passkey_origins", [1], false),
            ("passkey_origins", "https://a.example", false),
            ("passkey_origins", ["https://a.example", "https://a.example"], false),
            (
                "passkey_origins",
                ["android:apk-key-hash:\(Base64URL.encode(Array(repeating: 9, count: 32)))"],
                true
            ),
            ("passkey_origins", ["android:apk-key-hash:AA"], false),
            ("passkey_origins", ["android:apk-key-hash:"], false),
            (
                "passkey_origins", .array((0..<21).map { .string("https://a\($0).example") }),
                false
            ),
            ("passkey_attestation_formats", ["tpm", "packed"], true),
            ("passkey_attestation_formats", ["none"], false),
            ("passkey_attestation_formats", ["tpm", "tpm"], false),
            ("passkey_attestation_roots", ["AAAA"], false),
            ("passkey_attestation_roots", ["-----BEGIN CERTIFICATE-----"], false),
            ("passkey_attestation", "direct", true), ("passkey_attestation", "indirect", false),
        ]
        for (name, value, isFine) in cases {
            let setting = try #require(SettingCatalogue.find(name))
            do throws(FieldFault.Reason) {
                try setting.check(value)
                #expect(isFine, "\(name) \(value)")
            } catch {
                #expect(!isFine, "\(name) \(value): \(error)")
            }
        }
        let der: [UInt8] = [0x30, 0x82, 0x01, 0x00] + [UInt8](repeating: 5, count: 256)
        let armoured =
            "-----BEGIN CERTIFICATE-----\r\n\(Base64.encode(der))\n-----END CERTIFICATE-----\n"
        #expect(CertificateText.der(armoured) == der)
        #expect(CertificateText.der(Base64.encode(der)) == der)
        #expect(CertificateText.der(Base64.encode(der + [0])) == nil)
    }
}
