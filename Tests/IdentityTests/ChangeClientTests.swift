import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `Changing some of a client` {
    private func givenClient(_ metadata: JSONObject = webMetadata) throws -> Scenario {
        let usesSecret = ClientMetadata.authenticationMethod(askedFor: metadata)?.usesSecret == true
        let secret = usesSecret ? try digest(1) : nil
        return givenRealm().given(try registered(metadata, secret: secret), in: client)
    }

    private func change(_ changes: JSONObject) throws -> ChangeClient {
        ChangeClient(id: client, changes: changes, secret: try digest(2))
    }

    @Test func `changing a client keeps the members that it does not name`() async throws {
        var metadata = webMetadata
        metadata["client_name"] = "Shop"
        metadata["contacts"] = ["ops@a.example"]
        metadata["grant_types"] = ["authorization_code", "refresh_token"]
        let scenario = try givenClient(metadata)
        metadata["consent"] = "none"
        try await scenario.when(change(["consent": "none"]))
            .then(ClientEvent.updated(try ClientMetadata(metadata)), in: client)
    }

    @Test func `changing a client applies to its present metadata`() async throws {
        var later = webMetadata
        later["client_name"] = "Since then"
        let scenario = try givenClient()
            .given(ClientEvent.updated(try ClientMetadata(later)), in: client)
        later["logo_uri"] = "https://a.example/logo"
        try await scenario.when(change(["logo_uri": "https://a.example/logo"]))
            .then(ClientEvent.updated(try ClientMetadata(later)), in: client)
    }

    @Test
    func `changing a client removes a member by null, and appends nothing without a difference`()
        async throws
    {
        var metadata = webMetadata
        metadata["client_name"] = nil
        let scenario = try givenClient()
        try await scenario.when(change(["client_name": .null]))
            .then(ClientEvent.updated(try ClientMetadata(metadata)), in: client)
        for changes: JSONObject in [
            [:], ["client_name": "Web"], ["logo_uri": .null], ["consent": "needed"],
        ] {
            try await scenario.when(change(changes)).thenNothing()
        }
        try await scenario.when(change(["redirect_uris": .null]))
            .thenRejected(.invalid(FieldFault("redirect_uris", .missing)))
    }

    @Test func `changing a client's grants sets its response types, unless they are named`()
        async throws
    {
        var metadata = webMetadata
        metadata["grant_types"] = ["client_credentials"]
        try await givenClient().when(change(["grant_types": ["client_credentials"]]))
            .then(ClientEvent.updated(try ClientMetadata(metadata)), in: client)
        try await givenClient(metadata).when(change(["grant_types": ["authorization_code"]]))
            .then(ClientEvent.updated(try ClientMetadata(webMetadata)), in: client)
        try await givenClient()
            .when(change(["grant_types": ["client_credentials"], "response_types": ["code"]]))
            .thenRejected(
                .invalid(FieldFault("response_types", .conflicts(with: "grant_types"))))
    }

    @Test func `changing a client gives it a secret only where it begins to need one`() async throws
    {
        var metadata = nativeMetadata
        metadata["token_endpoint_auth_method"] = nil
        try await givenClient(nativeMetadata)
            .when(change(["token_endpoint_auth_method": .null])).then(
                ClientEvent.updated(try ClientMetadata(metadata)),
                ClientEvent.secretRotated(try digest(2)), in: client)
        metadata["client_name"] = "Shop"
        try await givenClient(metadata).when(change(["client_name": "Shop"])).thenNothing()
    }

    @Test func `changing a client checks its old and its new app`() async throws {
        var metadata = webMetadata
        metadata["app_id"] = .string(app.description)
        try await givenClient().when(change(["app_id": .string(app.description)]))
            .thenRejected(.invalid(FieldFault("app_id", .notFound)))
        let scenario = try givenClient(metadata)
            .given(AppEvent.created(slug: "shop", name: "Shop"), in: app)
        try await scenario.when(change(["app_id": .null]))
            .then(ClientEvent.updated(try ClientMetadata(webMetadata)), in: client)
        metadata["consent"] = "none"
        try await scenario.when(change(["consent": "none"]))
            .then(ClientEvent.updated(try ClientMetadata(metadata)), in: client)
    }

    @Test func `changing a client needs a client in an enabled realm`() async throws {
        let change = try change(["consent": "none"])
        try await given().when(change).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(change).thenRejected(.realmDisabled)
        try await givenRealm().when(change).thenRejected(.notFound)
        try await givenClient().given(ClientEvent.deleted, in: client).when(change)
            .thenRejected(.notFound)
        let read = try await givenRealm().when(change).read
        #expect(read.contains(Realm.stream))
    }
}
