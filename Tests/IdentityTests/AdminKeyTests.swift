import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `Admin keys` {
    let acme: RealmID

    init() throws {
        acme = try #require(RealmID("acme"))
    }

    func create(
        _ name: String = "Ada", _ scope: AdminScope = .all, permissions: AdminPermissions = .all
    ) throws -> AdminKeyChange.Change<AdminKeyChange.CreateRejection> {
        AdminKeyChange.create(
            key, name: name, digest: try digest(1), scope: scope, permissions: permissions)
    }

    func created() throws -> AdminKeyEvent {
        .created(name: "Ada", digest: try digest(1), scope: .all)
    }

    @Test func `an admin key is created for all realms or for some`() async throws {
        try await given().when(create()).then(created(), in: key)
        try await given().when(create("Ada", .only([acme]))).then(
            AdminKeyEvent.created(name: "Ada", digest: try digest(1), scope: .only([acme])),
            in: key)
    }

    @Test func `an admin key is created once`() async throws {
        try await given(created(), in: key).when(create()).thenRejected(.idTaken)
    }

    @Test func `an admin key is refused with an invalid name or list of realms`() async throws {
        try await given().when(create("")).thenRejected(.invalid(FieldFault("name", .malformed)))
        try await given().when(create("Ada", .only([])))
            .thenRejected(.invalid(FieldFault("realms", .missing)))
        try await given().when(create("Ada", .only([acme, acme])))
            .thenRejected(.invalid(FieldFault("realms", .duplicate)))
        let many = try (0...100).map { try #require(RealmID("r\($0)")) }
        try await given().when(create("Ada", .only(many)))
            .thenRejected(.invalid(FieldFault("realms", .tooMany(limit: 100))))
    }

    @Test func `an admin key is revoked for good`() async throws {
        let revoke = AdminKeyChange.revoke(key)
        try await given(created(), in: key).when(revoke).then(AdminKeyEvent.revoked, in: key)
        try await given(created(), AdminKeyEvent.revoked, in: key).when(revoke).thenNothing()
        try await given().when(revoke).thenRejected(.notFound)
    }

    @Test func `an admin key opens its own realms alone`() throws {
        var state = AdminKey()
        #expect(!state.scope.allows(acme))
        state.apply(.created(name: "Ada", digest: try digest(1), scope: .only([acme])))
        #expect(state.scope.allows(acme))
        #expect(!state.scope.allows(.system))
        #expect(AdminScope.all.allows(.system))
        #expect(try state.digest == digest(1))
        state.apply(.revoked)
        #expect(state.isRevoked)
    }

    @Test func `an admin key whose list of realms is unreadable opens none`() {
        let digest = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
        for realms in [["acme", "Not A Realm"], [1], "acme", .null] as [JSON] {
            let event = AdminKeyEvent(
                name: "admin_key.created",
                fields: ["name": "Ada", "digest": .string(digest), "realms": realms])
            #expect(event == nil)
        }
    }

    @Test func `an admin key is created with permissions, and not with an empty list of them`()
        async throws
    {
        let limited = AdminKeyEvent.created(
            name: "Ada", digest: try digest(1), scope: .all,
            permissions: .only([.eventsRead, .historyRead]))
        try await given().when(create(permissions: .only([.eventsRead, .historyRead])))
            .then(limited, in: key)
        #expect(limited.fields["permissions"] == ["events.read", "history.read"])
        try await given().when(create(permissions: .only([])))
            .thenRejected(.invalid(FieldFault("permissions", .missing)))
    }

    @Test func `an admin key allows what it lists, and administration only where it lists nothing`()
        throws
    {
        var state = AdminKey()
        #expect(!state.permissions.allow(.eventsRead))
        state.apply(try created())
        #expect(state.permissions.allow(nil))
        #expect(AdminPermission.allCases.allSatisfy { state.permissions.allow($0) })
        for held in AdminPermission.allCases {
            let permissions = AdminPermissions.only([held])
            #expect(!permissions.allow(nil))
            let allowed = AdminPermission.allCases.filter { permissions.allow($0) }
            let expected: [AdminPermission] =
                held == .analyst ? [.eventsRead, .auditRead, .historyRead, .analyst] : [held]
            #expect(allowed == expected)
        }
    }

    @Test func `an admin key whose permissions are unreadable is no key`() throws {
        let digest = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
        func read(_ permissions: JSON) -> AdminKeyEvent? {
            AdminKeyEvent(
                name: "admin_key.created",
                fields: ["name": "Ada", "digest": .string(digest), "permissions": permissions])
        }
        for wrong in [["events.read", "events.write"], [1], "events.read", .null] as [JSON] {
            #expect(read(wrong) == nil)
        }
        guard case .created(_, _, _, let none)? = read([]) else { throw Unreadable() }
        #expect(!none.allow(.eventsRead) && !none.allow(nil))
    }

    private struct Unreadable: Error {}

    @Test func `an admin key keeps a digest of 32 bytes that no description shows`() throws {
        #expect(SecretDigest([]) == nil)
        #expect(SecretDigest(Array(repeating: 0, count: 31)) == nil)
        #expect(try "\(digest(1))" == "a secret's digest")
    }
}
