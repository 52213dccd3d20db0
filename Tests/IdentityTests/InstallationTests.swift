import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let installation = UUID(high: 0x019B_0000_0000_7000, low: 0x8000_0000_0000_0001)
private let challenge = UUID(high: 0x019B_0000_0001_7000, low: 0x8000_0000_0000_0002)
let madeAt = Timestamp(microseconds: 0x019B_0000_0000 * 1_000)
private let said: JSONObject = [
    "redirect_uris": ["cozy://"], "client_name": "Phone", "software_id": "amiral",
]
private let clientID = Installation.clientID(of: installation)
private let nameClaim = Claim("installation_name", "Phone")

func flagshipRealm() -> Scenario {
    givenRealm().given(
        RealmEvent.settingsChanged(["profile": "flagship"]), in: Realm.stream)
}

/// As its own command registers it.
func registeredInstallation(_ more: JSONObject = [:]) async throws -> ClientEvent {
    let verdict = try await flagshipRealm().when(
        InstallationChange.register(
            installation, metadata: said.merging(more) { $1 }, secret: try digest(1)))
    let decision = try verdict.result.get()
    let event = try #require(decision.events.first)
    return try #require(ClientEvent(name: event.name, fields: event.open))
}

func givenInstallation(_ events: ClientEvent...) async throws -> Scenario {
    var scenario = flagshipRealm().given(
        try await registeredInstallation(), in: installation)
    for event in events { scenario = scenario.given(event, in: installation) }
    return scenario
}

@Suite struct `An installation` {
    private func register(_ change: JSONObject = [:]) throws
        -> InstallationChange.Change<InstallationChange.RegisterRejection>
    {
        InstallationChange.register(
            installation, metadata: said.merging(change) { $1 }, secret: try digest(1))
    }

    @Test func `an installation registers under a distinct name`() async throws {
        let verdict = try await flagshipRealm().when(register(["scope": "all", "consent": "none"]))
        verdict.then(
            try await registeredInstallation(), in: installation,
            taking: [Claim("client_id", clientID), nameClaim])
        verdict.thenRejected(.nameTaken, whenTaken: nameClaim)
        verdict.thenRejected(.idTaken, whenTaken: Claim("client_id", clientID))
    }

    @Test func `an installation needs an existing realm and a name`() async throws {
        try await given().when(register()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(register()).thenRejected(.realmDisabled)
        try await givenRealm().when(register()).thenRejected(.notOffered)
        try await givenInstallation().when(register()).thenRejected(.idTaken)
        try await flagshipRealm().when(register(["client_name": ""]))
            .thenRejected(.invalid(FieldFault("client_name", .missing)))
        try await flagshipRealm().when(register(["redirect_uris": ["data:,"]]))
            .thenRejected(.invalid(FieldFault("redirect_uris", .unsafeScheme, at: 0)))
    }

    @Test func `an installation is not registered or changed by other commands`() async throws {
        let metadata: JSONObject = [
            "grant_types": ["urn:urd:flagship"], "redirect_uris": ["https://a.example"],
        ]
        let fault = FieldFault("grant_types", .reserved)
        try await flagshipRealm().when(
            RegisterClient(id: client, clientID: "web", metadata: metadata, secret: try digest(1))
        ).thenRejected(.invalid(fault))
        try await givenInstallation().when(UpdateClient(id: installation, metadata: webMetadata))
            .thenRejected(.invalid(fault))
        #expect(throws: FieldFault("grant_types", .conflicts(with: "urn:urd:flagship"))) {
            try ClientMetadata([
                "grant_types": ["urn:urd:flagship", "refresh_token"],
                "redirect_uris": ["https://a.example"],
            ])
        }
    }

    @Test func `an installation updates its own metadata`() async throws {
        func update(
            _ change: JSONObject, rotation: InstallationChange.SecretRotation? = nil,
            at now: Timestamp = madeAt
        ) -> InstallationChange.Change<InstallationChange.UpdateRejection> {
            InstallationChange.update(
                installation, metadata: said.merging(change) { $1 }, rotation: rotation,
                now: now)
        }
        let there = try await givenInstallation()
        try await there.when(update([:])).thenNothing()
        let rotation = InstallationChange.SecretRotation(
            replaced: try digest(1), secret: try digest(2))
        try await there.when(update([:], rotation: rotation))
            .then(ClientEvent.secretRotated(try digest(2)), in: installation)
        try await givenInstallation(.secretRotated(try digest(2)))
            .when(update([:], rotation: rotation)).thenRejected(.secretReplaced)
        let renamed = try await there.when(update(["client_name": "Tablet"]))
        let taken = Claim("installation_name", "Tablet")
        guard
            case .registered(_, let metadata, _) = try await registeredInstallation([
                "client_name": "Tablet"
            ])
        else { return }
        renamed.then(
            ClientEvent.updated(metadata), in: installation, taking: [taken],
            releasing: [nameClaim])
        renamed.thenRejected(.nameTaken, whenTaken: taken)
        try await there.when(update(["software_id": ""]))
            .thenRejected(.invalid(FieldFault("software_id", .missing)))
        try await there.when(update([:], at: madeAt.adding(seconds: 3_600)))
            .thenRejected(.notFound)
        try await flagshipRealm().when(update([:])).thenRejected(.notFound)
        try await given().when(update([:])).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(update([:])).thenRejected(.realmDisabled)
    }

    @Test func `an installation that is not admitted within an hour is forgotten`() async throws {
        let over = madeAt.adding(seconds: 3_600)
        let forget = InstallationChange.forget(installation, now: over)
        try await givenInstallation().when(forget).then(
            ClientEvent.deleted, in: installation,
            releasing: [Claim("client_id", clientID), nameClaim])
        try await givenInstallation().when(
            InstallationChange.forget(installation, now: over.adding(seconds: -1))
        ).thenRejected(.notLapsed)
        try await givenInstallation(.adopted(atOnboarding: false)).when(forget)
            .thenRejected(.notLapsed)
        try await givenInstallation(.deleted).when(forget).thenRejected(.notLapsed)
        try await givenInstallation().when(DeleteClient(id: installation)).then(
            ClientEvent.deleted, in: installation,
            releasing: [Claim("client_id", clientID), nameClaim])
    }
}

@Suite struct `Admitting an installation` {
    private let mail = UUID(high: 5, low: 6)

    private func admit(at now: Timestamp = madeAt) -> AdmitInstallation {
        AdmitInstallation(installation: installation, account: account, mail: mail, now: now)
    }

    private func there(
        _ settings: JSONObject = [:], owner: UUID = account
    ) async throws -> Scenario {
        let all: JSONObject = ["profile": "flagship"]
        return try await givenInstallation()
            .given(
                RealmEvent.settingsChanged(all.merging(settings) { $1 }), in: Realm.stream
            )
            .given(OwnerEvent.appointed(owner, token: mail), in: Owner.stream)
    }

    @Test func `admitting an installation happens once and notifies the owner`() async throws {
        let verdict = try await there().when(admit())
        var expected = Decision(ClientEvent.adopted(atOnboarding: false), in: installation)
        expected.append(
            OwnerEvent.deviceAdded(
                AddedDevice(
                    installation: installation, clientName: "Phone", account: account, mail: mail)),
            in: Owner.stream)
        verdict.then(expected)
        try await there().given(ClientEvent.adopted(atOnboarding: false), in: installation)
            .when(admit()).thenNothing()
    }

    @Test func `admitting an installation is refused to others, too late, and over the limit`()
        async throws
    {
        try await given().when(admit()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(admit()).thenRejected(.realmDisabled)
        try await flagshipRealm().when(admit()).thenRejected(.notFound)
        try await there().when(admit(at: madeAt.adding(seconds: 3_600))).thenRejected(.notFound)
        try await there(owner: UUID(high: 9, low: 9)).when(admit()).thenRejected(.notOwner)
        let full = try await there(["installation_limit": 1]).given(
            OwnerEvent.deviceAdded(
                AddedDevice(
                    installation: UUID(high: 7, low: 7), clientName: "Other", account: account,
                    mail: nil)), in: Owner.stream)
        try await full.when(admit()).thenRejected(.full)
    }
}

@Suite struct `Certifying an installation` {
    private let key = AttestedKey(id: [1], publicKey: [4], app: "TEAM.app")

    private func certify(
        _ proof: CertifyInstallation.Proof, at now: Timestamp = madeAt.adding(seconds: 60)
    ) -> CertifyInstallation {
        CertifyInstallation(
            challenge: challenge, installation: installation, proof: proof, now: now)
    }

    @Test func `certifying an installation is recorded with its evidence`() async throws {
        let now = madeAt.adding(seconds: 60)
        var expected = Decision(
            AttestationEvent.accepted(
                installation: installation, by: .appAttest, app: "TEAM.app"), in: challenge)
        expected.append(
            ClientEvent.certified(.appAttest, at: now, attestation: challenge), in: installation)
        expected.append(AppKeyEvent.attested(key), in: AppKey.stream(of: installation))
        let again = expected
        expected.take(AppKey.claim(key.id), for: AppKey.stream(of: installation))
        let proof = CertifyInstallation.Proof.verified(.appAttest, app: "TEAM.app", key: key)
        let verdict = try await givenInstallation().when(certify(proof))
        verdict.then(expected)
        verdict.thenRejected(.keyTaken, whenTaken: AppKey.claim(key.id))
        // Its own key it may show again.
        try await givenInstallation()
            .given(
                AppKeyEvent.attested(key),
                AppKeyEvent.attested(AttestedKey(id: [2], publicKey: [4], app: "TEAM.app")),
                in: AppKey.stream(of: installation)
            ).when(certify(proof)).then(again)
        try await givenInstallation().when(certify(.refused(reason: "nonce"))).then(
            AttestationEvent.refused(installation: installation, reason: "nonce"), in: challenge)
    }

    @Test func `certifying an installation needs an open challenge and an installation`()
        async throws
    {
        let proof = CertifyInstallation.Proof.verified(.playIntegrity, app: "app")
        try await given().when(certify(proof)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(certify(proof)).thenRejected(.realmDisabled)
        try await flagshipRealm().when(certify(proof)).thenRejected(.notFound)
        try await givenInstallation(.deleted).when(certify(proof)).thenRejected(.notFound)
        try await givenInstallation(.disabled).when(certify(proof)).thenRejected(.notFound)
        try await givenInstallation().given(
            AttestationEvent.refused(installation: installation, reason: "x"), in: challenge
        ).when(certify(proof)).thenRejected(.challengeOver)
        try await givenInstallation(.adopted(atOnboarding: false))
            .when(certify(proof, at: madeAt.adding(seconds: 8 * 86_400)))
            .thenRejected(.challengeOver)
    }

    @Test func `a certification is revoked once, also by an update with another redirect URI`()
        async throws
    {
        let now = madeAt.adding(seconds: 60)
        let revoke = InstallationChange.revokeCertification(installation, now: now)
        let certified = try await givenInstallation(
            .adopted(atOnboarding: false),
            .certified(.appAttest, at: madeAt, attestation: challenge))
        let revoked = ClientEvent.certificationRevoked(.revoked, at: now)
        try await certified.when(revoke).then(revoked, in: installation)
        try await certified.given(revoked, in: installation).when(revoke).thenNothing()
        try await givenInstallation().when(revoke).thenNothing()
        try await givenInstallation(.deleted).when(revoke).thenRejected(.notFound)
        try await flagshipRealm().when(revoke).thenRejected(.notFound)
        try await given().when(revoke).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(revoke).thenRejected(.realmDisabled)
        func update(_ change: JSONObject)
            -> InstallationChange.Change<InstallationChange.UpdateRejection>
        {
            InstallationChange.update(
                installation, metadata: said.merging(change) { $1 }, now: now)
        }
        let changed = try await certified.when(update(["software_id": "other"])).result.get()
        #expect(changed.events.map(\.name) == ["client.updated", "client.certification_revoked"])
        let elsewhere = try await certified.when(update(["redirect_uris": ["evil://"]]))
            .result.get()
        #expect(elsewhere.events.last?.open["reason"] == "metadata_changed")
        let renamed = try await certified.when(update(["client_os": "iOS"])).result.get()
        #expect(renamed.events.map(\.name) == ["client.updated"])
        let plain = try await givenInstallation().when(update(["software_id": "other"]))
            .result.get()
        #expect(plain.events.map(\.name) == ["client.updated"])
    }

    @Test func `a certified key's assertions need growing counters`() async throws {
        func use(_ proof: UseAppKey.Proof, at now: Timestamp = madeAt) -> UseAppKey {
            UseAppKey(challenge: challenge, installation: installation, proof: proof, now: now)
        }
        func refused(_ reason: String) -> AttestationEvent {
            .refused(installation: installation, reason: reason)
        }
        let there = try await givenInstallation().given(
            AppKeyEvent.attested(key), AppKeyEvent.used(counter: 5),
            in: AppKey.stream(of: installation))
        var expected = Decision(
            AttestationEvent.accepted(
                installation: installation, by: .appAttest, app: "TEAM.app"), in: challenge)
        expected.append(AppKeyEvent.used(counter: 6), in: AppKey.stream(of: installation))
        try await there.when(use(.verified(key: [1], counter: 6))).then(expected)
        try await there.when(use(.verified(key: [1], counter: 5)))
            .then(refused("counter"), in: challenge)
        try await there.when(use(.verified(key: [2], counter: 6)))
            .then(refused("other_key"), in: challenge)
        try await there.when(use(.refused(reason: "signature")))
            .then(refused("signature"), in: challenge)
        try await flagshipRealm().when(use(.refused(reason: "x"))).thenRejected(.notFound)
        try await given().when(use(.refused(reason: "x"))).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(use(.refused(reason: "x")))
            .thenRejected(.realmDisabled)
        try await there.given(refused("x"), in: challenge)
            .when(use(.verified(key: [1], counter: 6))).thenRejected(.challengeOver)
        let late = madeAt.adding(seconds: 8 * 86_400)
        try await givenInstallation(.adopted(atOnboarding: false)).given(
            AppKeyEvent.attested(key), in: AppKey.stream(of: installation)
        ).when(use(.verified(key: [1], counter: 6), at: late)).thenRejected(.challengeOver)
    }

    @Test func `a Google verdict is read only where all its keys are configured`() async throws {
        func set(_ keys: [String]) -> IntegrityKeysChange.Change<IntegrityKeysChange.SetRejection> {
            IntegrityKeysChange.set(verification: ["keys": []], decryption: keys)
        }
        let key = Base64.encode(Array(repeating: 255, count: 32))
        try await givenRealm().when(set([key])).then(
            IntegrityKeysEvent.set(
                verification: ["keys": []],
                decryption: [Base64URL.encode(Array(repeating: 255, count: 32))]),
            in: IntegrityKeys.stream)
        try await given().when(set([])).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(set([])).thenRejected(.realmDisabled)
        try await givenRealm().when(set([key, "AAAA"]))
            .thenRejected(.invalid(FieldFault("decryption_keys", .malformed, at: 1)))
        try await givenRealm().when(set(Array(repeating: key, count: 9)))
            .thenRejected(.invalid(FieldFault("decryption_keys", .tooMany(limit: 8))))
    }
}
