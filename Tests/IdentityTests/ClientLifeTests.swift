import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private func givenClient(_ metadata: JSONObject = webMetadata) throws -> Scenario {
    let usesSecret = ClientMetadata.authenticationMethod(askedFor: metadata)?.usesSecret == true
    let secret = usesSecret ? try digest(1) : nil
    return givenRealm().given(try registered(metadata, secret: secret), in: client)
}

@Suite struct `Updating a client` {
    @Test func `updating a client replaces all of its metadata`() async throws {
        let new: JSONObject = ["redirect_uris": ["https://other.example.org/back"]]
        try await givenClient().when(UpdateClient(id: client, metadata: new))
            .then(ClientEvent.updated(try ClientMetadata(new)), in: client)
    }

    @Test func `updating a client without a difference appends nothing`() async throws {
        var metadata = webMetadata
        try await givenClient().when(UpdateClient(id: client, metadata: metadata)).thenNothing()
        metadata["client_id"] = "web"
        metadata["grant_types"] = ["authorization_code"]
        try await givenClient().when(UpdateClient(id: client, metadata: metadata)).thenNothing()
        try await givenClient()
            .when(UpdateClient(id: client, metadata: metadata, secret: try digest(1)))
            .thenNothing()
    }

    @Test func `updating a client can give it a first secret`() async throws {
        let update = UpdateClient(id: client, metadata: webMetadata)
        try await givenClient(nativeMetadata).when(update).thenRejected(
            .invalid(FieldFault("client_secret", .needed(by: "token_endpoint_auth_method"))))
        var withSecret = update
        withSecret.secret = try digest(2)
        try await givenClient(nativeMetadata).when(withSecret).then(
            ClientEvent.updated(try ClientMetadata(webMetadata)),
            ClientEvent.secretRotated(try digest(2)), in: client)
    }

    @Test func `updating a client removes a secret that it no longer needs`() async throws {
        let update = ClientEvent.updated(try ClientMetadata(nativeMetadata))
        try await givenClient().when(UpdateClient(id: client, metadata: nativeMetadata))
            .then(update, in: client)
        try await givenClient().given(update, in: client)
            .when(UpdateClient(id: client, metadata: webMetadata)).thenRejected(
                .invalid(FieldFault("client_secret", .needed(by: "token_endpoint_auth_method"))))
        try await givenClient()
            .when(UpdateClient(id: client, metadata: nativeMetadata, secret: try digest(2)))
            .thenRejected(
                .invalid(
                    FieldFault("client_secret", .conflicts(with: "token_endpoint_auth_method"))))
    }

    @Test func `updating a client names the member at fault`() async throws {
        var metadata = webMetadata
        metadata["client_id"] = "other"
        try await givenClient().when(UpdateClient(id: client, metadata: metadata))
            .thenRejected(.invalid(FieldFault("client_id", .mismatch)))
        metadata["client_id"] = nil
        metadata["app_id"] = .string(app.description)
        try await givenClient().when(UpdateClient(id: client, metadata: metadata))
            .thenRejected(.invalid(FieldFault("app_id", .notFound)))
        metadata["redirect_uris"] = ["http://a.example"]
        try await givenClient().when(UpdateClient(id: client, metadata: metadata))
            .thenRejected(.invalid(FieldFault("redirect_uris", .unsafeScheme, at: 0)))
    }

    @Test func `updating a client needs a client in an enabled realm`() async throws {
        let update = UpdateClient(id: client, metadata: webMetadata)
        try await given().when(update).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(update).thenRejected(.realmDisabled)
        try await givenRealm().when(update).thenRejected(.notFound)
        try await givenClient().given(ClientEvent.deleted, in: client).when(update)
            .thenRejected(.notFound)
    }
}

@Suite struct `Rotating a client's secret` {
    @Test func `rotating a client's secret replaces it`() async throws {
        try await givenClient().when(ClientChange.rotateSecret(client, secret: try digest(2)))
            .then(ClientEvent.secretRotated(try digest(2)), in: client)
        try await givenClient().when(ClientChange.rotateSecret(client, secret: try digest(1)))
            .thenNothing()
    }

    @Test func `rotating a client's secret is refused where it has none`() async throws {
        try await givenClient(nativeMetadata)
            .when(ClientChange.rotateSecret(client, secret: try digest(2)))
            .thenRejected(.usesNoSecret)
    }

    @Test func `rotating a client's secret needs a client in an enabled realm`() async throws {
        let rotate = ClientChange.rotateSecret(client, secret: try digest(2))
        try await given().when(rotate).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(rotate).thenRejected(.realmDisabled)
        try await givenRealm().when(rotate).thenRejected(.notFound)
        try await givenClient().given(ClientEvent.deleted, in: client).when(rotate)
            .thenRejected(.notFound)
    }

    @Test func `rotating a client's secret puts no secret into an event`() throws {
        let event = NewEvent(ClientEvent.secretRotated(try digest(2)), in: client)
        #expect(
            event.open == ["secret_digest": "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"])
    }
}

@Suite struct `Disabling, enabling and deleting a client` {
    @Test func `disabling a client stops it, and enabling lets it go on`() async throws {
        try await givenClient().when(ClientChange.disable(client))
            .then(ClientEvent.disabled, in: client)
        try await givenClient().given(ClientEvent.disabled, in: client)
            .when(ClientChange.enable(client)).then(ClientEvent.enabled, in: client)
    }

    @Test func `disabling, enabling or deleting a client twice appends nothing`() async throws {
        try await givenClient().given(ClientEvent.disabled, in: client)
            .when(ClientChange.disable(client)).thenNothing()
        try await givenClient().when(ClientChange.enable(client)).thenNothing()
    }

    @Test func `deleting a client releases its client id`() async throws {
        try await givenClient().when(DeleteClient(id: client))
            .then(ClientEvent.deleted, in: client, releasing: [Claim("client_id", "web")])
        var state = Client()
        state.apply(try registered(secret: try digest(1)))
        state.apply(.deleted)
        #expect(state.isDeleted)
        #expect(state.secret == nil)
    }

    @Test func `disabling, enabling and deleting a client needs a client`() async throws {
        let gone = try givenClient().given(ClientEvent.deleted, in: client)
        for scenario in [givenRealm(), gone] {
            try await scenario.when(ClientChange.disable(client)).thenRejected(.notFound)
            try await scenario.when(ClientChange.enable(client)).thenRejected(.notFound)
            try await scenario.when(DeleteClient(id: client)).thenRejected(.notFound)
        }
    }

    @Test func `disabling, enabling and deleting a client needs an enabled realm`() async throws {
        try await given().when(ClientChange.disable(client)).thenRejected(.realmNotFound)
        try await given().when(ClientChange.enable(client)).thenRejected(.realmNotFound)
        try await given().when(DeleteClient(id: client)).thenRejected(.realmNotFound)
        let disabled = givenDisabledRealm()
        try await disabled.when(ClientChange.disable(client)).thenRejected(.realmDisabled)
        try await disabled.when(ClientChange.enable(client)).thenRejected(.realmDisabled)
        try await disabled.when(DeleteClient(id: client)).thenRejected(.realmDisabled)
    }

    @Test func `disabling a client's realm is seen by the next command on the client`() async throws
    {
        func check(_ command: some Command) async throws {
            let read = try await givenRealm().when(command).read
            #expect(read.contains(Realm.stream))
        }
        try await check(RealmChange.setSettings([:]))
        try await check(AppChange.create(app, slug: "a", name: "A"))
        try await check(AppChange.update(app))
        try await check(AppChange.delete(app))
        try await check(RegisterClient(id: client, clientID: "web", metadata: [:]))
        try await check(UpdateClient(id: client, metadata: [:]))
        try await check(ClientChange.rotateSecret(client, secret: try digest(1)))
        try await check(ClientChange.disable(client))
        try await check(ClientChange.enable(client))
        try await check(DeleteClient(id: client))
    }
}

@Suite struct `A failed client authentication` {
    private let attempt = UUID(high: 30, low: 1)
    private let refused = RefusedSignIn(
        method: .clientCredentials, reason: "invalid_client", account: nil, client: client,
        clientID: "web", app: nil, from: SignInPlace())

    @Test func `a failed client authentication is recorded under an id of its own`() async throws {
        try await givenClient().when(ClientChange.recordRefusal(attempt, refused))
            .then(SessionEvent.refused(refused), in: attempt)
        try await givenClient().given(SessionEvent.refused(refused), in: attempt)
            .when(ClientChange.recordRefusal(attempt, refused)).thenRejected(.idTaken)
    }
}
