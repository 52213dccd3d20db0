import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let other = UUID(high: 0x78, low: 1)
private let deviceMail = UUID(high: 0x78, low: 2)
private let deviceBrowser = UUID(high: 0x78, low: 3)

private func added(_ id: UUID = installation, mail: UUID? = nil) -> OwnerEvent {
    .deviceAdded(
        AddedDevice(
            installation: id, clientName: "Phone", account: Owned.owner, mail: mail))
}

@Suite struct `The devices that an owner let in` {
    private func limited(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = try await givenOwner(client: Owned.certified)
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(
            RealmEvent.settingsChanged(["installation_limit": 1]), in: Realm.stream
        ).given(added(other), in: Owner.stream)
    }

    private func signIn() throws -> SignInOwner {
        var request = try Owned.request()
        request.mail = deviceMail
        return SignInOwner(
            comparison: .right(hash: "scrypt"), next: (Owned.mail, try digest(9)),
            request: request)
    }

    private func names(
        _ command: some AnsweringCommand, _ scenario: Scenario
    ) async throws -> [String] {
        try await scenario.when(command).result.get().events.map(\.name)
    }

    @Test func `an owner's devices are announced by mail, except the first`() async throws {
        let scenario = try await givenOwner(client: Owned.certified)
        let events = try await scenario.when(signIn()).result.get().events
        #expect(events.contains { $0.open["mail"] == .string(deviceMail.description) })
        let device = try #require(events.first { $0.name == "owner.device_added" })
        #expect(device.open["client_name"] == "Phone")
        #expect(device.open["client"] == .string(installation.description))
    }

    @Test func `an owner's devices are limited by the realm`() async throws {
        #expect(try await names(signIn(), limited()) == ["session_code.issued"])
        // Who is in stays in, and a place that is left is free.
        #expect(
            try await names(signIn(), limited(.adopted(atOnboarding: false)))
                == ["session.opened"])
        let left = try await limited().given(OwnerEvent.deviceRemoved(other), in: Owner.stream)
        #expect(
            try await names(signIn(), left)
                == ["client.adopted", "owner.device_added", "session.opened"])
    }

    @Test func `an owner's devices over the limit are admitted by no code`() async throws {
        let login = BrowserTerms(
            account: Owned.owner, stamp: 0, method: .sessionCode, factors: [.passphrase],
            digest: try digest(5), openedAt: madeAt, expiresAt: madeAt.adding(seconds: 300))
        let code = AuthorizationCode(
            id: Owned.session, client: installation, account: Owned.owner, browser: deviceBrowser,
            redirect: try digest(6), challenge: try digest(7), scope: ["*"],
            authenticatedAt: madeAt, factors: [.passphrase],
            expiresAt: Owned.now.adding(seconds: 300))
        let redeem = RedeemInstallationCode(
            code: code, verifier: try digest(7), installation: installation,
            secret: try digest(1), now: Owned.now)
        try await limited().given(BrowserSessionEvent.opened(login), in: deviceBrowser).when(redeem)
            .thenRejected(.invalidCode)
    }

    @Test func `an owner's device leaves with its client`() async throws {
        let inside = try await givenOwner(client: .adopted(atOnboarding: false))
            .given(added(), in: Owner.stream)
        let verdict = try await inside.when(DeleteClient(id: installation))
        #expect(
            try verdict.result.get().events.map(\.name)
                == ["client.deleted", "owner.device_removed"])
        let waiting = try await (try await givenOwner()).when(DeleteClient(id: installation))
        #expect(try waiting.result.get().events.map(\.name) == ["client.deleted"])
    }

    /// Anybody can have a genuine app: nobody is told of one that he did not let in.
    @Test func `an owner's device is announced when it is certified`() async throws {
        let challenge = UUID(high: 0x019B_0000_0001_7000, low: 0x8000_0000_0000_0002)
        var certify = CertifyInstallation(
            challenge: challenge, installation: installation,
            proof: .verified(.playIntegrity, app: "app"), now: madeAt.adding(seconds: 60))
        certify.mail = deviceMail
        func event(_ scenario: Scenario) async throws -> JSONObject? {
            try await scenario.when(certify).result.get().events
                .first { $0.name == "client.certified" }?.open
        }
        #expect(try await event(givenOwner())?["mail"] == nil)
        let adopted = ClientEvent.adopted(atOnboarding: false)
        let told = try await event(givenOwner(client: adopted))
        #expect(told?["mail"] == .string(deviceMail.description))
        #expect(told?["account"] == .string(Owned.owner.description))
        #expect(told?["name"] == "Phone")
        #expect(try await event(givenOwner(client: adopted, Owned.certified))?["mail"] == nil)
    }
}
