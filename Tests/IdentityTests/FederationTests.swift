import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let service = UUID(high: 81, low: 1)
private let device = UUID(high: 81, low: 2)
private let deviceSession = UUID(high: 81, low: 3)
private let serviceSession = UUID(high: 81, low: 4)
private let assertion = UUID(high: 81, low: 5)
private let notice = UUID(high: 81, low: 6)
private let audience = "https://service.example/token"

/// A version of the app, a service, a device that showed itself, and a person who signed in on it.
struct Federation {
    static let (serviceClient, assertionStream) = (service, assertion)

    static func token(
        _ holder: FederatedHolder, _ keyID: String, below superiors: [UUID] = []
    ) -> FederatedToken {
        FederatedToken(holder: holder, keyID: keyID, device: device, superiors: superiors)
    }

    static func terms(
        _ token: FederatedToken, account: UUID?, of client: UUID, _ clientID: String
    ) -> SessionTerms {
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: clientID, app: nil, scope: [],
            resources: [], factors: [], openedAt: noon,
            expiresAt: noon.adding(seconds: 86_400), isOffline: account != nil)
        terms.federation = token
        return terms
    }

    static func given() throws -> Scenario {
        givenRealm()
            .given(RealmEvent.settingsChanged(["profile": "federation"]), in: Realm.stream)
            .given(
                try registered(
                    ["profile": "federation_app", "grant_types": ["refresh_token", "password"]],
                    secret: digest(1)), in: client
            )
            .given(
                try registered(
                    [
                        "profile": "federation_service", "scope": "org.example.notes",
                        "grant_types": [
                            "urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token",
                        ], "service_description_uri": "https://service.example",
                    ], secret: digest(2)), in: service
            )
            .given(
                SessionEvent.opened(
                    terms(token(.device, "AAAAAAAAAA"), account: nil, of: client, "web")),
                in: deviceSession
            )
            .given(registeredAccount(), in: account)
            .given(
                SessionEvent.opened(
                    terms(
                        token(.person, "BBBBBBBBBB", below: [deviceSession]), account: account,
                        of: client, "web")), in: session)
    }

    static func issued(
        for service: UUID = serviceClient, removals: Int = 0
    ) -> FederatedAssertionEvent {
        var terms = FederatedAssertionTerms(
            account: account, session: session, device: device, service: service,
            serviceID: "web", party: "web", audience: audience, issuedAt: noon,
            expiresAt: noon.adding(seconds: 3600))
        terms.removals = removals
        return .issued(terms)
    }

    static func redeem(at now: Timestamp = noon, audience: String = audience) throws
        -> RedeemGrant<FederatedAssertionGrant>
    {
        RedeemGrant(
            FederatedAssertionGrant(
                assertion: assertion, session: serviceSession, keyID: "CCCCCCCCCC",
                audience: audience),
            GrantRequest(
                client: service, clientID: "web",
                proof: .secret(try digest(2)), session: serviceSession, now: now))
    }
}

@Suite struct `The federation profile` {
    private func issue(_ lifetime: Int64 = 3600) -> IssueFederatedAssertion {
        IssueFederatedAssertion(
            assertion: assertion, session: session, service: service, audience: audience,
            lifetime: lifetime, now: noon)
    }

    @Test func `an assertion is issued for an hour at most`() async throws {
        try await Federation.given().when(issue(86_400)).then(Federation.issued(), in: assertion)
    }

    @Test func `an assertion is refused once anything above the person's token is over`()
        async throws
    {
        for stream in [session, deviceSession] {
            try await Federation.given().given(SessionEvent.ended(.revoked), in: stream)
                .when(issue()).thenRejected(.signedOut)
        }
        try await Federation.given().given(ClientEvent.disabled, in: client).when(issue())
            .thenRejected(.signedOut)
        try await Federation.given().given(AccountEvent.stampRotated(mail: nil), in: account)
            .when(issue()).thenRejected(.signedOut)
        try await Federation.given().given(ClientEvent.disabled, in: service).when(issue())
            .thenRejected(.noSuchService)
        try await Federation.given().given(Federation.issued(), in: assertion).when(issue())
            .thenRejected(.used)
    }

    @Test func `an assertion opens one session of its service, below the person's`() async throws {
        let given = try Federation.given().given(Federation.issued(), in: assertion)
        let events = try await given.when(Federation.redeem()).result.get().events
        #expect(events.map(\.name) == ["federated_assertion.redeemed", "session.opened"])
        let opened = try #require(events.last)
        #expect(opened.stream == serviceSession)
        #expect(opened.open["holder"] == "service")
        #expect(
            opened.open["superiors"]
                == .array([deviceSession, session].map { .string($0.description) }))
    }

    @Test(arguments: [
        "used", "late", "of another audience", "of another service", "never issued",
        "below an ended token",
    ])
    func `an assertion that is not good at the service is refused and recorded`(
        _ fault: String
    ) async throws {
        var given = try Federation.given()
        var redeem = try Federation.redeem()
        if fault != "never issued", fault != "of another service" {
            given = given.given(Federation.issued(), in: assertion)
        }
        switch fault {
        case "used":
            given = given.given(
                FederatedAssertionEvent.redeemed(
                    session: notice, account: account, device: device, client: service,
                    clientID: "web"), in: assertion)
        case "late": redeem = try Federation.redeem(at: noon.adding(seconds: 3600))
        case "of another audience":
            redeem = try Federation.redeem(audience: "https://other.example/token")
        case "of another service":
            given = given.given(Federation.issued(for: notice), in: assertion)
        case "below an ended token":
            given = given.given(SessionEvent.ended(.revoked), in: deviceSession)
        default: break
        }
        let events = try await given.when(redeem).result.get().events
        #expect(events.map(\.name) == ["session.refused"])
        #expect(events.first?.open["reason"] == "invalid_assertion")
    }

    @Test func `a refused person is taken again, and who is refused already stays so`()
        async throws
    {
        let stream = ServiceStanding.stream(of: account, at: service)
        let refused = ServiceStandingEvent.refused(
            account: account, client: service, clientID: "web")
        let refuse = SetServiceStanding(service: service, account: account, isRefused: true)
        try await Federation.given().when(refuse).then(refused, in: stream)
        try await Federation.given().given(refused, in: stream).when(refuse).thenNothing()
        var admit = refuse
        admit.isRefused = false
        try await Federation.given().given(refused, in: stream).when(admit).then(
            ServiceStandingEvent.admitted(account: account, client: service, clientID: "web"),
            in: stream)
        var elsewhere = refuse
        elsewhere.service = client
        try await Federation.given().when(elsewhere).thenRejected(.noSuchService)
        var nobody = refuse
        nobody.account = notice
        try await Federation.given().when(nobody).thenRejected(.noSuchAccount)
    }

    @Test func `what a service publishes is kept where it says that it does`() async throws {
        let document: JSON = ["engineLink": "/", "apis": ["a": ["apiLink": "a"]]]
        func describe(_ document: JSON, at host: String = "https://service.example")
            -> DescribeService
        {
            DescribeService(service: service, host: host, description: document)
        }
        try await Federation.given().when(describe(document, at: "https://other.example"))
            .thenRejected(.noSuchService)
        try await Federation.given().when(describe(["engineLink": "/"])).thenRejected(.unreadable)
        try await Federation.given().when(describe(["apis": [:]])).thenRejected(.unreadable)
    }

    @Test func `a passphrase is changed by a living token for who knows the old one`()
        async throws
    {
        let passphrase = PassphraseEvent.set(hash: "old", account: account, mail: notice, at: noon)
        let stream = Passphrase.stream(of: account)
        func change(_ comparison: PassphraseProof.Comparison) -> ChangePassphrase {
            ChangePassphrase(
                account: account, session: session, comparison: comparison, hash: "new",
                mail: notice, now: noon)
        }
        let given = try Federation.given()
        try await given.when(change(.right(hash: "old"))).thenRejected(.notSet)
        let set = given.given(passphrase, in: stream)
        var expected = Decision(
            PassphraseEvent.set(hash: "new", account: account, mail: notice, at: noon), in: stream)
        expected.append(AccountEvent.proofsEnded, in: account)
        try await set.when(change(.right(hash: "old"))).then(expected)
        try await set.when(change(.wrong(hash: "old"))).then(
            Decision(PassphraseEvent.refused(at: noon), in: stream, of: account))
        // It was changed meanwhile.
        try await set.when(change(.right(hash: "older"))).thenNothing()
        try await set.given(SessionEvent.ended(.revoked), in: deviceSession)
            .when(change(.right(hash: "old"))).thenRejected(.accountBlocked)
        try await set.given(
            RealmEvent.settingsChanged(["login_passphrase": false]), in: Realm.stream
        ).when(change(.right(hash: "old"))).thenRejected(.notOffered)
        try await set.given(AccountEvent.disabled(), in: account)
            .when(change(.right(hash: "old"))).thenRejected(.accountBlocked)
    }
}
