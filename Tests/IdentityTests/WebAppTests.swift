import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let id = UUID(high: 0x77, low: 1)
private let drive: JSONObject = [
    "kind": "app", "slug": "drive", "name": "Drive", "permissions": ["files:read"],
    "origin": "https://drive.example.org",
]
private let bank: JSONObject = [
    "kind": "konnector", "slug": "bank", "name": "Bank",
    "start_url": "https://bank.example/start?client=urd",
]
private let claims = [Claim("app", "drive"), Claim("web_app_origin", "https://drive.example.org")]

private func with(_ more: JSONObject, _ members: JSONObject = drive) -> JSONObject {
    members.merging(more) { $1 }
}

private func givenDrive() throws -> Scenario {
    givenRealm().given(WebAppEvent.registered(try WebAppCard(drive)), in: id)
}

@Suite struct `Registering a web app` {
    let register = WebAppChange.register(id, members: drive)

    @Test func `registering a web app claims its name and its host`() async throws {
        try await givenRealm().when(register).then(
            WebAppEvent.registered(try WebAppCard(drive)), in: id, taking: claims)
        try await givenRealm().when(WebAppChange.register(id, members: bank)).then(
            WebAppEvent.registered(try WebAppCard(bank)), in: id,
            taking: [Claim("konnector", "bank")])
    }

    @Test func `registering a web app needs an enabled realm`() async throws {
        try await given().when(register).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(register).thenRejected(.realmDisabled)
    }

    @Test func `registering a web app is refused with a taken name or host`() async throws {
        try await givenDrive().when(register).thenRejected(.idTaken)
        try await givenRealm().when(register).thenRejected(.slugTaken, whenTaken: claims[0])
        try await givenRealm().when(register).thenRejected(.originTaken, whenTaken: claims[1])
    }

    /// What would make it a face of the realm is what would make it another app as well.
    @Test func `registering a web app is refused under a name of the realm's own`() async throws {
        try await givenRealm().when(AppChange.create(app, slug: "drive", name: "Drive"))
            .thenRejected(.slugTaken, whenTaken: claims[0])
    }

    private static let badMembers: [(JSONObject, FieldFault)] = [
        (["slug": .null], FieldFault("slug", .missing)),
        (["kind": "thing"], FieldFault("kind", .unsupported)),
        (["size": 1], FieldFault("size", .unknown)),
        (["name": 1], FieldFault("name", .wrongType(expected: .text))),
        (["name": "\t"], FieldFault("name", .malformed)),
        (["slug": "Drive"], FieldFault("slug", .malformed)),
        (["slug": "a.b"], FieldFault("slug", .malformed)),
        (["icon": "../../etc"], FieldFault("icon", .malformed)),
        (["icon": "//evil.example/x"], FieldFault("icon", .malformed)),
        (["icon": "javascript:alert(1)"], FieldFault("icon", .unsafeScheme)),
        (["permissions": ["*"]], FieldFault("permissions", .reserved, at: 0)),
        (["permissions": ["a", "io.files.*"]], FieldFault("permissions", .reserved, at: 1)),
        (["permissions": ["a", "a"]], FieldFault("permissions", .duplicate, at: 1)),
        (["permissions": ["a b"]], FieldFault("permissions", .malformed, at: 0)),
        (["permissions": "a"], FieldFault("permissions", .wrongType(expected: .list))),
        (["flags": 1], FieldFault("flags", .wrongType(expected: .object))),
        (
            ["notifications": 1],
            FieldFault("notifications", .wrongType(expected: .object))
        ),
        (
            ["notifications": ["a": 1]],
            FieldFault("notifications", .wrongType(expected: .object))
        ),
        (["flags": ["a b": 1]], FieldFault("flags", .malformed)),
        (
            ["start_url": "https://bank.example"],
            FieldFault("start_url", .conflicts(with: "kind"))
        ),
    ]

    @Test(arguments: badMembers)
    func `registering a web app is refused with an invalid member`(
        _ more: JSONObject, _ fault: FieldFault
    ) async throws {
        try await givenRealm().when(WebAppChange.register(id, members: with(more)))
            .thenRejected(.invalid(fault))
    }

    @Test(arguments: [
        ("http://drive.example.org", FieldFault.Reason.unsafeScheme),
        ("javascript:alert(1)", .unsafeScheme), ("cozy://drive", .unsafeScheme),
        ("https://drive.example.org/", .malformed), ("https://drive.example.org/a", .malformed),
        ("https://drive.example.org?a", .malformed),
        ("https://drive.example.org#a", .hasFragment),
        ("https://me@drive.example.org", .hasUserInfo),
        ("https://Drive.example.org", .malformed),
        ("https://drive.example.org:443", .malformed), ("https://", .malformed),
        ("drive.example.org", .malformed),
    ])
    func `registering a web app is refused at an invalid origin`(
        _ origin: String, _ reason: FieldFault.Reason
    ) async throws {
        try await givenRealm()
            .when(WebAppChange.register(id, members: with(["origin": .string(origin)])))
            .thenRejected(.invalid(FieldFault("origin", reason)))
    }

    @Test(arguments: ["http://localhost:8080", "https://drive.example.org:8443"])
    func `registering a web app at an origin is accepted`(_ origin: String) throws {
        let card = try WebAppCard(with(["origin": .string(origin)]))
        #expect(card.originHost.map { origin.hasSuffix("//\($0)") } == true)
    }

    @Test(arguments: [
        ("http://bank.example", FieldFault.Reason.unsafeScheme),
        ("https://bank.example/#a", .hasFragment), ("https://a:b@bank.example", .hasUserInfo),
        ("https://bank.example/?state=1", .reserved),
        ("https://bank.example/?a=1&redirect_uri=x", .reserved),
    ])
    func `registering a web app is refused with an invalid provider`(
        _ address: String, _ reason: FieldFault.Reason
    ) async throws {
        for name in ["start_url", "reconnect_url", "manage_url"] {
            try await givenRealm()
                .when(WebAppChange.register(id, members: with([name: .string(address)], bank)))
                .thenRejected(.invalid(FieldFault(name, reason)))
        }
    }

    @Test func `registering a konnector needs no pages and has bounds`() async throws {
        let texts = (0...50).map { JSON.string("p\($0)") }
        let many = FieldFault("permissions", .tooMany(limit: 50))
        let flags = JSON.object(
            JSONObject((0...50).map { ("f\($0)", JSON.bool(true)) }))
        let large: JSON = ["a": .string(String(repeating: "x", count: 9_000))]
        for (members, fault) in [
            (
                with(["origin": "https://a.example"], bank),
                FieldFault("origin", .conflicts(with: "kind"))
            ),
            (with(["permissions": .array(texts)]), many),
            (with(["flags": flags]), FieldFault("flags", .tooMany(limit: 50))),
            (with(["flags": large]), FieldFault("flags", .tooLong(limit: 8_192))),
        ] {
            try await givenRealm().when(WebAppChange.register(id, members: members))
                .thenRejected(.invalid(fault))
        }
    }
}

@Suite struct `Updating a web app` {
    @Test func `updating a web app changes only what differs`() async throws {
        var moved = try WebAppCard(drive)
        moved.origin = "https://files.example.org"
        try await givenDrive().when(
            WebAppChange.update(id, changes: ["origin": "https://files.example.org"])
        ).then(
            WebAppEvent.updated(moved), in: id,
            taking: [Claim("web_app_origin", "https://files.example.org")],
            releasing: [claims[1]])
        moved.origin = nil
        try await givenDrive().when(WebAppChange.update(id, changes: ["origin": .null]))
            .then(WebAppEvent.updated(moved), in: id, releasing: [claims[1]])
        try await givenDrive().when(WebAppChange.update(id, changes: ["slug": "drive"]))
            .thenNothing()
    }

    @Test func `updating a web app is refused with invalid values`() async throws {
        let rename = WebAppChange.update(id, changes: ["name": "Files"])
        try await given().when(rename).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(rename).thenRejected(.realmDisabled)
        try await givenRealm().when(rename).thenRejected(.notFound)
        try await givenDrive().given(WebAppEvent.removed, in: id).when(rename)
            .thenRejected(.notFound)
        try await givenDrive().when(WebAppChange.update(id, changes: ["kind": "konnector"]))
            .thenRejected(.invalid(FieldFault("kind", .mismatch)))
        try await givenDrive().when(WebAppChange.update(id, changes: ["slug": "files"]))
            .thenRejected(.invalid(FieldFault("slug", .mismatch)))
        try await givenDrive().when(WebAppChange.update(id, changes: ["permissions": ["*"]]))
            .thenRejected(.invalid(FieldFault("permissions", .reserved, at: 0)))
        let other = Claim("web_app_origin", "https://other.example")
        try await givenDrive()
            .when(WebAppChange.update(id, changes: ["origin": "https://other.example"]))
            .thenRejected(.originTaken, whenTaken: other)
    }
}

@Suite struct `Removing a web app` {
    @Test func `removing a web app releases its name and its host`() async throws {
        try await givenDrive().when(WebAppChange.remove(id))
            .then(WebAppEvent.removed, in: id, releasing: claims)
    }

    @Test func `removing a web app needs a web app`() async throws {
        let remove = WebAppChange.remove(id)
        try await given().when(remove).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(remove).thenRejected(.realmDisabled)
        try await givenRealm().when(remove).thenRejected(.notFound)
        try await givenDrive().given(WebAppEvent.removed, in: id).when(remove)
            .thenRejected(.notFound)
    }
}
