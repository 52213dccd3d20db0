import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private func givenRealm(registration posture: String) -> Scenario {
    givenRealm().given(
        RealmEvent.settingsChanged(["client_registration": .string(posture)]), in: Realm.stream)
}

@Suite struct `The update of a self-registered client` {
    private let plain: JSONObject = [
        "token_endpoint_auth_method": "none", "redirect_uris": ["https://web.example.org/back"],
    ]

    private func update(
        _ more: JSONObject = [:], statement: SoftwareStatement? = nil
    ) -> UpdateOwnClient {
        UpdateOwnClient(
            id: client,
            metadata: plain.merging(["client_id": "web"]) { $1 }.merging(more) { $1 },
            statement: statement)
    }

    private func known(_ more: JSONObject = [:]) throws -> Scenario {
        givenRealm(registration: "open").given(
            try registered(plain.merging(more) { $1 }, secret: nil), in: client)
    }

    @Test func `a self-registered client's update replaces its metadata and keeps its credentials`()
        async throws
    {
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

    @Test func `a self-registered client's new redirect host asks for consent again`()
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

    @Test func `a self-registered client's update gives it no privileges`() async throws {
        for (name, value) in [
            ("audiences", ["https://other.example"]), ("introspects_all_tokens", true),
        ] as [(String, JSON)] {
            try await known().when(update([name: value]))
                .thenRejected(.invalid(FieldFault(name, .reserved)))
        }
        let narrowed = try ClientMetadata(plain.merging(["scope": "openid phone"]) { $1 })
        try await known().when(update(["scope": "openid phone jobs"]))
            .then(ClientEvent.updated(narrowed), in: client)
        try await known().when(update(["grant_types": ["client_credentials"]]))
            .thenRejected(.invalid(FieldFault("grant_types", .reserved, at: 0)))
    }

    @Test func `a self-registered client's update needs a valid statement if it came by one`()
        async throws
    {
        for posture in ["open", "software_statement", "closed"] {
            let known = givenRealm(registration: posture).given(
                try registered(plain.merging(["software_statement": "old"]) { $1 }, secret: nil),
                in: client)
            try await known.when(update()).thenRejected(.statementNeeded)
            // Sent alone it is nothing: somebody must have looked at it.
            try await known.when(update(["software_statement": "old"]))
                .thenRejected(.statementNeeded)
            let fresh = SoftwareStatement(
                "new", claims: ["redirect_uris": ["https://maker.example/back"]])
            let after = try ClientMetadata(
                plain.merging([
                    "redirect_uris": ["https://maker.example/back"], "software_statement": "new",
                ]) { $1 })
            let evil: JSONObject = [
                "redirect_uris": ["https://evil.example/back"], "software_statement": "new",
            ]
            try await known.when(update(evil, statement: fresh))
                .then(ClientEvent.updated(after), in: client)
        }
    }

    @Test func `a self-registered client that adds a statement needs one from then on`()
        async throws
    {
        let statement = SoftwareStatement("new", claims: ["client_name": "Maker's"])
        let after = try ClientMetadata(
            plain.merging(["client_name": "Maker's", "software_statement": "new"]) { $1 })
        let vouched = try known().given(ClientEvent.updated(after), in: client)
        try await known().when(update(statement: statement))
            .then(ClientEvent.updated(after), in: client)
        try await vouched.when(update()).thenRejected(.statementNeeded)
        let more = SoftwareStatement("new", claims: ["grant_types": ["client_credentials"]])
        try await vouched.when(update(statement: more))
            .thenRejected(.invalid(FieldFault("grant_types", .reserved, at: 0)))
        // Who manages the realm changes it without one, and cannot take it away.
        var named = plain
        named["client_name"] = "Theirs"
        let renamed = try ClientMetadata(named.merging(["software_statement": "new"]) { $1 })
        for said in [nil, .null, "new"] as [JSON?] {
            named["software_statement"] = said
            try await vouched.when(UpdateClient(id: client, metadata: named))
                .then(ClientEvent.updated(renamed), in: client)
        }
        named["software_statement"] = "other"
        try await vouched.when(UpdateClient(id: client, metadata: named))
            .thenRejected(.invalid(FieldFault("software_statement", .reserved)))
        try await givenRealm(registration: "open")
            .when(RegisterClient(id: client, clientID: "web", metadata: named))
            .thenRejected(.invalid(FieldFault("software_statement", .reserved)))
        // It is known that it came by one also where the words were erased.
        var words = ClientEvent.updated(after).fields
        words["software_statement"] = nil
        let erased = try #require(ClientEvent(name: "client.updated", fields: words))
        try await known().given(erased, in: client).when(update())
            .thenRejected(.statementNeeded)
    }

    @Test func `a self-registered client's update needs the same, existing client`() async throws {
        try await givenRealm(registration: "open").when(update()).thenRejected(.notFound)
        try await known().given(ClientEvent.deleted, in: client).when(update())
            .thenRejected(.notFound)
        try await known().when(update(["client_id": "other"]))
            .thenRejected(.invalid(FieldFault("client_id", .mismatch)))
        try await given().when(update()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(update()).thenRejected(.realmDisabled)
    }
}
