import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let device = UUID(high: 70, low: 70)
private let other = UUID(high: 71, low: 71)

private let metadata: JSONObject = [
    "token_endpoint_auth_method": "none",
    "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
]

private func terms(scope: [String] = ["openid"], resources: [String] = []) -> DeviceTerms {
    DeviceTerms(
        client: client, clientID: "web", app: nil, scope: scope, resources: resources,
        expiresAt: noon.adding(seconds: 600))
}

private func request(
    scope: [String] = ["openid"], resources: [String] = [], proof: ClientProof = .none,
    of stream: UUID = client, at now: Timestamp = noon
) -> GrantRequest {
    GrantRequest(
        client: stream, clientID: "web", proof: proof, scope: scope, resources: resources,
        session: session, now: now)
}

private func realm(_ more: JSONObject = [:]) throws -> Scenario {
    givenRealm().given(
        try registered(metadata.merging(more) { $1 }, secret: nil), in: client)
}

/// To let a device in is no sign-in.
private let signedIn = noon.adding(seconds: -300)

@Suite struct `A device that asks to be let in` {
    @Test func `a device request waits under its code for the realm's time`() async throws {
        try await realm().when(RequestDevice(device: device, request()))
            .then(DeviceEvent.requested(terms()), in: device)
        var later = terms()
        later.expiresAt = noon.adding(seconds: 60)
        try await realm()
            .given(RealmEvent.settingsChanged(["device_code_lifetime": 60]), in: Realm.stream)
            .when(RequestDevice(device: device, request()))
            .then(DeviceEvent.requested(later), in: device)
    }

    @Test func `a device request is refused to clients without the grant or the scope`()
        async throws
    {
        func ask(_ request: GrantRequest = request()) -> RequestDevice {
            RequestDevice(device: device, request)
        }
        try await given().when(ask()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ask()).thenRejected(.realmDisabled)
        try await givenRealm().when(ask()).thenRejected(.invalidClient)
        try await realm().given(ClientEvent.disabled, in: client).when(ask())
            .thenRejected(.invalidClient)
        try await realm(["grant_types": ["refresh_token"]]).when(ask())
            .thenRejected(.unauthorizedClient)
        try await realm().when(ask(request(scope: ["jobs"]))).thenRejected(.unknownScope)
        try await realm().when(ask(request(resources: ["x"]))).thenRejected(.invalidResource)
        try await realm(["resources": ["https://other.example"]])
            .when(ask(request(resources: ["https://api.example"]))).thenRejected(.invalidResource)
        try await realm().given(DeviceEvent.requested(terms()), in: device).when(ask())
            .thenRejected(.codeTaken)
        let used = UsedAssertion(id: "j1", until: noon)
        try await realm([
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": ["keys": [["kty": "OKP", "crv": "Ed25519", "x": "AA"]]],
        ]).when(ask(request(proof: .assertion(used)))).thenRejected(
            .usedAssertion, whenTaken: Claim("client_assertion", "web j1", until: noon))
    }
}

@Suite struct `A device decision` {
    private func approve(at now: Timestamp = noon) -> ApproveDevice {
        ApproveDevice(
            device: device, account: account, factors: [.passkey], signedInAt: signedIn, now: now)
    }

    private func deny(at now: Timestamp = noon) -> DenyDevice {
        DenyDevice(device: device, account: account, now: now)
    }

    private var waiting: Scenario {
        givenRealm().given(DeviceEvent.requested(terms()), in: device)
            .given(registeredAccount(), in: account)
    }

    private var approved: DeviceEvent {
        .approved(
            DeviceApproval(
                account: account, stamp: 0, factors: [.passkey], signedInAt: signedIn, at: noon))
    }

    @Test func `a device decision admits or denies the device, once`() async throws {
        try await waiting.when(approve()).then(approved, in: device)
        try await waiting.when(deny()).then(DeviceEvent.denied(account: account), in: device)
        for event in [approved, .denied(account: account)] {
            try await waiting.given(event, in: device).when(approve()).thenRejected(.notFound)
            try await waiting.given(event, in: device).when(deny()).thenRejected(.notFound)
        }
    }

    @Test func `a device decision needs an account that may sign in, in time`() async throws {
        let late = noon.adding(seconds: 600)
        try await waiting.when(approve(at: late)).thenRejected(.notFound)
        try await waiting.when(deny(at: late)).thenRejected(.notFound)
        let blocked = waiting.given(AccountEvent.disabled(), in: account)
        try await blocked.when(approve()).thenRejected(.accountBlocked)
        try await blocked.when(deny()).thenRejected(.accountBlocked)
        try await givenRealm().when(approve()).thenRejected(.notFound)
        try await givenRealm().when(deny()).thenRejected(.notFound)
        try await given().when(approve()).thenRejected(.realmNotFound)
        try await given().when(deny()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(approve()).thenRejected(.realmDisabled)
        try await givenDisabledRealm().when(deny()).thenRejected(.realmDisabled)
    }
}

@Suite struct `A device that asks whether it was let in` {
    private func redeem(
        of stream: UUID = client, at now: Timestamp = noon
    ) -> RedeemGrant<DeviceGrant> {
        RedeemGrant(
            DeviceGrant(device: device),
            request(scope: ["openid", "email"], of: stream, at: now))
    }

    private func waiting(_ events: DeviceEvent...) throws -> Scenario {
        let start = try realm().given(registeredAccount(), in: account)
            .given(DeviceEvent.requested(terms(resources: ["https://a.example"])), in: device)
        return events.reduce(start) { $0.given($1, in: device) }
    }

    private let approved = DeviceEvent.approved(
        DeviceApproval(
            account: account, stamp: 0, factors: [.passkey], signedInAt: signedIn, at: noon))

    @Test func `a device gets the approved scopes and resources, whatever it asks for now`()
        async throws
    {
        var expected = Decision(DeviceEvent.redeemed, in: device)
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid"], resources: ["https://a.example"], factors: [.passkey],
            openedAt: noon, expiresAt: noon.adding(seconds: 365 * 86_400),
            isOffline: false, method: .deviceCode)
        terms.authenticatedAt = signedIn
        expected.append(SessionEvent.opened(terms), in: session)
        try await waiting(approved).when(redeem()).then(expected)
    }

    @Test func `a device learns whether it was approved, denied or neither`() async throws {
        let pending = try await waiting().when(redeem()).result.get()
        #expect(pending.events.isEmpty && pending.claims.count == 2)
        try await waiting(.denied(account: account)).when(redeem()).thenRejected(.deviceDenied)
        let late = noon.adding(seconds: 600)
        try await waiting().when(redeem(at: late)).thenRejected(.expiredDeviceCode)
        try await waiting(approved).when(redeem(at: late)).thenRejected(.expiredDeviceCode)
        try await waiting(approved, .redeemed).when(redeem()).thenRejected(.invalidDeviceCode)
        try await realm().when(redeem()).thenRejected(.invalidDeviceCode)
    }

    private func spans(at now: Timestamp) async throws -> Set<Claim> {
        Set(try await waiting().when(redeem(at: now)).result.get().claims.map(\.claim))
    }

    @Test func `a device polls at an interval that holds over all nodes`() async throws {
        for (seconds, isTooSoon) in [(0, true), (2, true), (5, false), (60, false)]
            as [(Int64, Bool)]
        {
            for offset in 0..<20 as Range<Int64> {
                let first = noon.adding(microseconds: offset * 250_000)
                let then = first.adding(seconds: seconds)
                let asked = try await spans(at: first)
                #expect(
                    try await spans(at: then).isDisjoint(with: asked) != isTooSoon,
                    "\(offset), \(seconds)")
            }
        }
        let span = try #require(try await spans(at: noon).first)
        try await waiting().when(redeem()).thenRejected(.askedTooSoon, whenTaken: span)
    }

    @Test func `a device request is redeemed by its own client`() async throws {
        let twin = try registered(metadata, secret: nil)
        try await waiting(approved).given(twin, in: other).when(redeem(of: other))
            .thenRejected(.invalidDeviceCode)
    }

    @Test func `a device that was approved in a browser gets its tokens while that is signed in`()
        async throws
    {
        var approval = DeviceApproval(
            account: account, stamp: 0, factors: [.passkey], signedInAt: signedIn, at: noon)
        approval.place = .browser(browser)
        let there = try waiting(.approved(approval)).given(
            BrowserSessionEvent.opened(try browserTerms()), in: browser)
        func opens(_ end: BrowserSessionEnd?) async throws -> Bool {
            let scenario = end.map { there.given(BrowserSessionEvent.ended($0), in: browser) }
            guard
                case .success(let decision) = try await (scenario ?? there).when(redeem()).result
            else { return false }
            return decision.events.contains { $0.name == "session.opened" }
        }
        #expect(try await opens(nil))
        // A new sign-in in the same browser is no log-out.
        #expect(try await opens(.replaced))
        for end in BrowserSessionEnd.allCases where end != .replaced {
            #expect(try await !opens(end), "\(end)")
        }
    }

    @Test func `a device that was approved in an app gets its tokens while that is signed in`()
        async throws
    {
        let own = UUID(high: 0x77, low: 77)
        var approval = DeviceApproval(
            account: account, stamp: 0, factors: [.passkey], signedInAt: signedIn, at: noon)
        approval.place = .session(own)
        let opened = SessionEvent.opened(
            SessionTerms(
                account: account, stamp: 0, client: client, clientID: "web", app: nil,
                scope: [], resources: [], factors: [.passkey], openedAt: signedIn,
                expiresAt: noon.adding(seconds: 86_400), isOffline: true, method: .nativePasskey))
        let there = try waiting(.approved(approval)).given(opened, in: own)
        let names = try await there.when(redeem()).result.get().events.map(\.name)
        #expect(names == ["device.redeemed", "session.opened"])
        let over = there.given(SessionEvent.ended(.revoked), in: own)
        let refused = try await over.when(redeem()).result.get().events.map(\.name)
        #expect(refused == ["session.refused"])
    }

    @Test func `a device is not admitted by an account that was blocked meanwhile`() async throws {
        for event in [AccountEvent.disabled(), .stampRotated()] {
            let verdict = try await waiting(approved).given(event, in: account).when(redeem())
            guard case .success(let decision) = verdict.result else {
                Issue.record("It is not on record.")
                continue
            }
            #expect(decision.events.map(\.name) == ["session.refused"])
        }
    }
}
