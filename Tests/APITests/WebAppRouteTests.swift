import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A web app over HTTP` {
    private let path = "/api/admin/realms/acme/web-apps"
    private let drive: JSON = [
        "kind": "app", "slug": "drive", "name": "Drive", "origin": "https://drive.example",
        "permissions": ["files"], "flags": ["a": true],
    ]

    @Test func `a web app can be registered, changed and removed over HTTP`() async throws {
        let world = try await World()
        let made = try await world.make(path, drive)
        let id = try #require(made.json["id"]?.string)
        #expect(made.response.headers["Location"] == "\(path)/\(id)")
        #expect(made.json["origin"] == "https://drive.example")
        let changed = try await world.send(
            .patch, "\(path)/\(id)", body: ["origin": .null, "name": "Files"])
        #expect(changed.json["name"] == "Files")
        #expect(changed.json["origin"] == nil)
        #expect(changed.json["flags"] == ["a": true])
        #expect(try await world.send(.get, "\(path)/\(id)").json == changed.json)
        let listed = try await world.send(.get, path)
        #expect(listed.json["items"]?.array?.count == 2)
        #expect(try await world.send(.delete, "\(path)/\(id)").status == .noContent)
        #expect(try await world.send(.get, "\(path)/\(id)").problem == .noSuchApp)
        #expect(try await world.send(.delete, "\(path)/\(id)").problem == .noSuchApp)
        // Its name and its place are free again.
        try await world.make(path, drive)
        let again = try await world.send(.post, path, body: drive)
        #expect(again.problem == .appExists)
        let face = try await world.send(
            .post, "/api/admin/realms/acme/apps", body: ["slug": "drive", "name": "D"])
        #expect(face.problem == .appExists)
    }

    @Test func `a web app cannot take a host where people sign in`() async throws {
        let world = try await World()
        func made(_ origin: String) async throws -> Answered {
            try await world.send(
                .post, path,
                body: ["kind": "app", "slug": "x", "name": "X", "origin": .string(origin)])
        }
        // The realm's only host.
        #expect(try await made("https://id.acme.example").status == .badRequest)
        #expect(try await made("https://id.acme.example:8443").status == .badRequest)
        try await world.make("/api/admin/realms/acme/hosts", ["host": "x.example"])
        _ = try await world.send(
            .patch, "/api/admin/realms/acme/settings",
            body: [
                "primary_domain": "acme.example", "links_base_url": "https://links.acme.example",
            ])
        for origin in ["https://acme.example", "https://links.acme.example"] {
            #expect(try await made(origin).status == .badRequest, "\(origin)")
        }
        let answer = try await made("https://x.example")
        #expect(answer.status == .created)
        let id = try #require(answer.json["id"]?.string)
        let moved = try await world.send(
            .patch, "\(path)/\(id)", body: ["origin": "https://acme.example"])
        #expect(moved.status == .badRequest)
    }

    @Test func `an invalid web app is refused with the member at fault`() async throws {
        let world = try await World()
        for (member, value) in [
            ("permissions", ["*"]), ("origin", "http://drive.example"),
            ("icon", "javascript:alert(1)"), ("start_url", "https://a.example"),
        ] as [(String, JSON)] {
            var body = drive.object ?? [:]
            body[member] = value
            let answer = try await world.send(.post, path, body: .object(body))
            #expect(answer.status == .badRequest, "\(member)")
            let told = String(decoding: answer.response.body, as: UTF8.self)
            #expect(told.contains(member), "\(member)")
        }
    }
}

@Suite struct `A device's history` {
    @Test func `a device's history tells how it was certified and what it did since`() async throws
    {
        let world = try await World()
        let route = try #require(API.table.first { $0.id == "listDeviceHistory" })
        let parts = world.path(route).split(separator: "/")
        let name = String(try #require(parts.dropLast().last))
        let bytes = try #require(Hex.decode(name))
        let id = try #require(UUID(bytes: bytes))
        let challenge = UUID.random()
        try await world.happen(
            Attestation.self,
            .accepted(installation: id, by: .appAttest, app: "TEAM.io.example"), in: challenge)
        try await world.happen(
            Client.self,
            .certified(.appAttest, at: Timestamp(seconds: 1_795_000_000), attestation: challenge),
            in: id)
        let listed = try await world.send(.get, "/api/admin/realms/acme/devices")
        let device = try #require(listed.json["items"]?.array?.first)
        #expect(device["certified_by"] == "app_attest")
        #expect(device["certified_at"]?.string?.isEmpty == false)
        #expect(device["attestation"] == .string(challenge.description))
        let path = "/api/admin/realms/acme/devices/\(name)/history"
        let history = try await world.send(.get, path)
        let items = try #require(history.json["items"]?.array)
        #expect(
            items.map { $0["type"] } == [
                "client.registered", "attestation.accepted", "client.certified",
            ])
        #expect(items[1]["fields"]?["app"] == "TEAM.io.example")
        // Who signs in with it is nobody yet when he does.
        let refused = RefusedSignIn(
            method: .flagship, reason: "invalid_passphrase", account: nil, client: id,
            clientID: name, app: nil, from: SignInPlace())
        try await world.happen(Session.self, .refused(refused), in: .random())
        let later = try await world.send(.get, path)
        #expect(later.json["items"]?.array?.last?["type"] == "session.refused")
        let rest = try await world.send(.get, path, query: "limit=2")
        #expect(rest.json["items"]?.array?.count == 2)
        let cursor = try #require(rest.json["next"]?.string)
        let last = try await world.send(.get, path, query: "limit=2&after=\(cursor)")
        #expect(last.json["items"]?.array?.count == 2)
        let revoked = try await world.send(
            .post, "/api/admin/realms/acme/devices/\(name)/revoke-certification")
        #expect(revoked.status == .ok && revoked.json["certified_by"] == nil)
        #expect(revoked.json["client_id"] == .string(name) && revoked.json["attestation"] == nil)
        let types = try await world.send(.get, path).json["items"]?.array?.map {
            $0["type"]?.string
        }
        #expect(types?.last == "client.certification_revoked")
        #expect(types?.contains("attestation.accepted") == true)
        let nobody = String(repeating: "0", count: 32)
        let none = try await world.send(
            .get, "/api/admin/realms/acme/devices/\(nobody)/history")
        #expect(none.problem == .noSuchClient)
    }
}
