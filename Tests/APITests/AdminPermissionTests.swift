import Cryptography
import EventSourcing
import Foundation
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

private let admin = API.table.filter { $0.right != .nothing }

/// The rows of the table in `docs/admin-keys.md`, by operation.
private func documented() throws -> Set<String> {
    let page = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/admin-keys.md")
    let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
    let table = lines.drop { !$0.hasPrefix("| operation |") }.dropFirst(2)
    return Set(table.prefix { $0.hasPrefix("| ") })
}

private func row(_ name: String, _ cells: [String]) -> String {
    "| \(name) | \(cells.joined(separator: " | ")) |"
}

/// What they do is in no log.
private let unlogged = [
    "acknowledgeEvents", "createCaseFile", "cancelCaseFile", "createWhatIf", "cancelWhatIf",
    "createAsOfBuild", "cancelAsOfBuild",
    "planConfiguration", "applyConfiguration", "compareConfiguration",
]

@Suite struct `A limited admin key` {
    @Test func `each operation answers a limited key as docs/admin-keys.md says`() async throws {
        var world = try await World()
        var keys: [(permission: AdminPermission, key: BearerKey)] = []
        for permission in AdminPermission.allCases {
            keys.append((permission, try await world.limitedKey([permission])))
        }
        let nothing = AdminPermission.allCases.map { _ in "–" }
        var rows: Set = [row("every other operation", nothing)]
        for route in admin {
            var cells: [String] = []
            for (permission, key) in keys {
                // A case file is for the key that asked for it.
                if ["downloadCaseFile", "cancelCaseFile"].contains(route.id),
                    [.eventsRead, .analyst].contains(permission)
                {
                    world.names["case_id"] = try await world.caseFile(
                        about: world.names["account_id"] ?? "", key: key)
                }
                if route.id == "cancelWhatIf", [.eventsRead, .analyst].contains(permission) {
                    world.names["what_if_id"] = try await world.whatIf(key: key)
                }
                if route.path.description.contains("{build_id}") {
                    world.names["build_id"] = try await world.asOfBuild(key: key)
                }
                let head = try await world.head()
                let answer = try await world.send(
                    route.method, world.path(route), body: try world.example(of: route), key: key)
                if answer.problem == .forbidden {
                    cells.append("–")
                    let missing =
                        route.permission.map { "The key lacks the permission \($0.rawValue)." }
                        ?? "Only a key that is not limited to permissions may do this."
                    #expect(answer.json["detail"]?.string == missing, "\(route.id)")
                    #expect(try await world.head() == head, "\(route.id) with \(permission)")
                } else {
                    cells.append("yes")
                    #expect(answer.status == route.answer.status, "\(route.id) \(answer.json)")
                    #expect(
                        route.method == .get || permission == .subscriptionsManage
                            || unlogged.contains(route.id),
                        "\(route.id) changes something")
                }
            }
            world.cases.cancelUnfinished()
            world.whatIfs.cancelUnfinished()
            world.asOfBuilds.cancelUnfinished()
            if cells != nothing { rows.insert(row("`\(route.id)`", cells)) }
            rows.formUnion(try await openRows(of: route, in: world))
        }
        let page = try documented()
        #expect(rows.subtracting(page).sorted() == [], "missing in docs/admin-keys.md")
        #expect(page.subtracting(rows).sorted() == [], "wrong in docs/admin-keys.md")
    }

    /// What each permission reaches with a parameter that needs one on top.
    private func openRows(
        of route: Route<AdminContext>, in world: World
    ) async throws -> Set<String> {
        var rows: Set<String> = []
        for parameter in route.parameters {
            guard let needed = parameter.permission, route.permission != nil else { continue }
            var cells: [String] = []
            for permission in AdminPermission.allCases {
                // Of the login history `reason` is a column, and not why something is opened.
                let names = ["open_reason", "reason"].filter { name in
                    parameter.name == "open" && route.parameters.contains { $0.name == name }
                }
                let reason = names.first.map { "&\($0)=Incident" } ?? ""
                func ask(_ permissions: [AdminPermission]) async throws -> Answered {
                    try await world.send(
                        route.method, world.path(route), query: "\(parameter.name)=true\(reason)",
                        key: try await world.limitedKey(permissions))
                }
                let alone = try await ask([permission])
                #expect(alone.problem == .forbidden, "\(route.id) with \(permission)")
                let both =
                    permission == needed ? alone : try await ask([permission, needed])
                cells.append(both.status == .ok ? "with `\(needed.rawValue)`" : "–")
            }
            rows.insert(row("`\(route.id)`, `\(parameter.name)`", cells))
        }
        return rows
    }

    @Test func `a limited key opens personal fields only with events.open`() async throws {
        let world = try await World()
        let path = "/api/admin/realms/acme/login-history"
        let reader = try await world.limitedKey([.historyRead])
        let before = try await world.head()
        let refused = try await world.send(.get, path, query: "open=true", key: reader)
        #expect(refused.problem == .forbidden && refused.field == "open")
        #expect(refused.json["detail"] == "The key lacks the permission events.open.")
        #expect(!String(decoding: refused.response.body, as: UTF8.self).contains("203.0.113.9"))
        #expect(try await world.head() == before, "nothing was disclosed")
        let closed = try await world.send(.get, path, query: "open=false", key: reader)
        #expect(closed.json["items"]?[0]?["address"] == nil && closed.status == .ok)
        let opener = try await world.limitedKey([.historyRead, .eventsOpen])
        let bare = try await world.send(.get, path, query: "open=true", key: opener)
        #expect(bare.problem == .missingParameter && bare.field == "open_reason")
        #expect(try await world.head() == before, "nothing was disclosed")
        let opened = try await world.send(
            .get, path, query: "open=true&open_reason=Incident%204711", key: opener)
        #expect(opened.json["items"]?[0]?["address"] == "203.0.113.9")
        let disclosure = try #require(try await world.events(after: before).last)
        #expect(disclosure.name == "personal_data.opened")
        #expect(disclosure.actor == "admin:\(opener.id)")
        #expect(disclosure.open["reason"] == "Incident 4711")
    }

    @Test func `a limited key reads no person by events.open alone`() async throws {
        let world = try await World()
        let key = try await world.limitedKey(AdminPermission.allCases)
        let account = try #require(world.names["account_id"])
        let path = "/api/admin/realms/acme/accounts/\(account)"
        for query in [nil, "open=true"] {
            let answer = try await world.send(.get, path, query: query, key: key)
            #expect(answer.problem == .forbidden)
        }
    }

    @Test func `a limited key reaches its own realms alone`() async throws {
        let world = try await World()
        let made = try await world.make(
            "/api/admin/keys",
            ["name": "siem", "realms": ["acme"], "permissions": ["events.read"]])
        #expect(made.json["permissions"] == ["events.read"])
        let key = try #require(made.json["key"]?.string.flatMap { BearerKey($0) })
        let own = try await world.send(.get, "/api/admin/realms/acme/events", key: key)
        #expect(own.status == .ok)
        for realm in ["other", "system"] {
            let path = "/api/admin/realms/\(realm)/events"
            let answer = try await world.send(.get, path, key: key)
            #expect(answer.problem == .forbidden && answer.json["detail"] == nil)
        }
        let shown = try await world.send(.get, "/api/admin/keys/\(key.id)")
        #expect(shown.json["permissions"] == ["events.read"])
    }

    @Test func `a limited key is created with known permissions, each once`() async throws {
        let world = try await World()
        for (permissions, field) in [
            (["events.raed"], "permissions/0"), ([], "permissions"), (.null, "permissions"),
            (["analyst", "analyst"], "permissions"), ("analyst", "permissions"),
        ] as [(JSON, String)] {
            let answer = try await world.send(
                .post, "/api/admin/keys", body: ["name": "x", "permissions": permissions])
            #expect(answer.problem == .invalidField && answer.field?.hasPrefix(field) == true)
        }
        let wrong = try await world.send(
            .post, "/api/admin/keys", body: ["name": "x", "permissions": ["events.raed"]])
        #expect(wrong.json["detail"]?.string?.contains("events.read, events.open") == true)
    }

    @Test func `a limited key that is refused is on record with its reason`() async throws {
        let world = try await World()
        let key = try await world.limitedKey([.auditRead])
        let before = try await world.log.head(of: .system).position
        _ = try await world.send(.get, "/api/admin/realms/acme/events", key: key)
        let events = try await world.log.events(from: before + 1, limit: .max, in: .system)
        #expect(events.map(\.name) == ["admin_key.refused"])
        #expect(events.first?.open["reason"] == "not_permitted")
    }

    /// The digest is over the permissions: whoever changes the row, or cannot read it, has no key.
    @Test(arguments: [
        AdminPermissions.all, .only([.eventsRead, .eventsOpen]), .only([.auditRead]), .only([]),
    ])
    func `an admin key whose permissions are read wider than they were given is refused`(
        read: AdminPermissions
    ) async throws {
        let world = try await World()
        let key = BearerKey(id: UUID.random(), secret: Random.bytes(32))
        let digest = try #require(SecretDigest(key.digest(limitedTo: .only([.eventsRead]))))
        try await world.happen(
            AdminKey.self,
            .created(name: "Ada", digest: digest, scope: .all, permissions: read), in: key.id,
            of: .system)
        let answer = try await world.send(.get, "/api/admin/realms/acme/events", key: key)
        #expect(answer.problem == .unauthenticated)
    }
}

extension World {
    fileprivate func head() async throws -> Int64 {
        try await log.head(of: try #require(RealmID("acme"))).position
    }

    fileprivate func events(after position: Int64) async throws -> [Recorded] {
        try await log.events(
            from: position + 1, limit: .max, in: try #require(RealmID("acme")))
    }
}
