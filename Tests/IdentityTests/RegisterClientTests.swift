import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let claim = Claim("client_id", "web")

@Suite struct `Registering a client` {
    func register(
        _ metadata: JSONObject = webMetadata, clientID: String = "web", secret: Bool = true
    ) throws -> RegisterClient {
        RegisterClient(
            id: client, clientID: clientID, metadata: metadata,
            secret: secret ? try digest(1) : nil)
    }

    @Test func `registering a client claims its client id`() async throws {
        try await givenRealm().when(register())
            .then(registered(secret: try digest(1)), in: client, taking: [claim])
        try await givenRealm().when(register(nativeMetadata, secret: false))
            .then(registered(nativeMetadata, secret: nil), in: client, taking: [claim])
    }

    @Test func `registering a client needs an enabled realm`() async throws {
        try await given().when(register()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(register()).thenRejected(.realmDisabled)
    }

    @Test func `registering a client is refused under a taken id or client id`() async throws {
        try await givenRealm().given(registered(secret: nil), in: client).when(register())
            .thenRejected(.idTaken)
        try await givenRealm().given(registered(secret: nil), ClientEvent.deleted, in: client)
            .when(register()).thenRejected(.idTaken)
        try await givenRealm().when(register()).thenRejected(.clientIDTaken, whenTaken: claim)
    }

    @Test(
        arguments: [
            ("", .missing), ("a b", .malformed), ("a/b", .malformed), ("é", .malformed),
            ("a:b", .malformed), (String(repeating: "a", count: 129), .tooLong(limit: 128)),
        ] as [(String, FieldFault.Reason)])
    func `registering a client is refused with an invalid client id`(
        clientID: String, reason: FieldFault.Reason
    ) async throws {
        try await givenRealm().when(register(clientID: clientID))
            .thenRejected(.invalid(FieldFault("client_id", reason)))
    }

    @Test func `registering a client is refused where the body names another client`() async throws
    {
        var metadata = webMetadata
        metadata["client_id"] = "web"
        try await givenRealm().when(register(metadata))
            .then(registered(secret: try digest(1)), in: client, taking: [claim])
        for other in ["other", 1, .null] as [JSON] {
            metadata["client_id"] = other
            try await givenRealm().when(register(metadata))
                .thenRejected(.invalid(FieldFault("client_id", .mismatch)))
        }
    }

    @Test func `registering a client needs a secret exactly where its authentication uses one`()
        async throws
    {
        try await givenRealm().when(register(secret: false)).thenRejected(
            .invalid(FieldFault("client_secret", .needed(by: "token_endpoint_auth_method"))))
        try await givenRealm().when(register(nativeMetadata)).thenRejected(
            .invalid(FieldFault("client_secret", .conflicts(with: "token_endpoint_auth_method"))))
        #expect(ClientMetadata.authenticationMethod(askedFor: webMetadata) == .secretBasic)
        #expect(
            ClientMetadata.authenticationMethod(askedFor: nativeMetadata)
                == AuthenticationMethod.none)
        #expect(
            ClientMetadata.authenticationMethod(askedFor: ["token_endpoint_auth_method": 1]) == nil)
    }

    @Test func `registering a client can bind it to an existing app`() async throws {
        var metadata = webMetadata
        metadata["app_id"] = .string(app.description)
        let created = AppEvent.created(slug: "shop", name: "Shop")
        let bound = try await givenRealm().given(created, in: app).when(register(metadata))
        try bound.then(registered(metadata, secret: try digest(1)), in: client, taking: [claim])
        #expect(bound.read == [Realm.stream, client, app])
        let gone = FieldFault("app_id", .notFound)
        try await givenRealm().when(register(metadata)).thenRejected(.invalid(gone))
        try await givenRealm().given(created, AppEvent.deleted, in: app).when(register(metadata))
            .thenRejected(.invalid(gone))
    }

    @Test func `registering a client seals its contacts under the client's own key`() throws {
        var metadata = webMetadata
        metadata["contacts"] = ["ada@example.org"]
        let event = NewEvent(try registered(metadata, secret: nil), in: client)
        #expect(event.subject == client)
        #expect(event.personal == ["contacts": ["ada@example.org"]])
        #expect(event.open["contacts"] == nil)
        #expect(NewEvent(try registered(secret: nil), in: client).subject == nil)
    }

    @Test func `registering a client survives the erasure of its contacts`() async throws {
        var metadata = webMetadata
        metadata["contacts"] = ["ada@example.org"]
        let log = MemoryLog()
        let realm = ConformanceRealm.fresh()
        let dispatcher = Dispatcher(log: log)
        let origin = Origin(actor: "system", at: Timestamp(microseconds: 0))
        _ = try await dispatcher.dispatch(
            RealmChange.create(displayName: "Acme"), in: realm, id: UUID(high: 8, low: 1),
            origin: origin)
        _ = try await dispatcher.dispatch(
            register(metadata), in: realm, id: UUID(high: 8, low: 2), origin: origin)
        let known = try await dispatcher.state(Client.self, client, in: realm)
        #expect(known.state.metadata?.contacts == ["ada@example.org"])
        log.erase(client, in: realm)
        let forgotten = try await dispatcher.state(Client.self, client, in: realm)
        #expect(forgotten.state.metadata?.contacts == [])
        #expect(forgotten.state.metadata?.clientName == "Web")
    }
}
