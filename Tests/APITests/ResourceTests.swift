import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A realm over HTTP` {
    @Test func `a realm can be created, disabled and enabled over HTTP`() async throws {
        let world = try await World()
        let made = try await world.make(
            "/api/admin/realms", ["realm": "demo", "display_name": "Demo"])
        #expect(made.response.headers["Location"] == "/api/admin/realms/demo")
        #expect(made.response.headers["Urd-Position"] == "demo:1:1")
        #expect(made.json["enabled"] == true)
        let path = "/api/admin/realms/demo"
        #expect(try await world.send(.post, path + "/disable").json["enabled"] == false)
        #expect(try await world.send(.post, path + "/disable").json["enabled"] == false)
        #expect(try await world.send(.get, path).json["enabled"] == false)
        let refused = try await world.send(.patch, path + "/settings", body: ["otp_attempts": 1])
        #expect(refused.problem == .realmDisabled)
        #expect(try await world.send(.post, path + "/enable").json["enabled"] == true)
    }

    @Test func `a realm over HTTP is created once, and never under the system's name`() async throws
    {
        let world = try await World()
        let again = try await world.send(
            .post, "/api/admin/realms", body: ["realm": "acme", "display_name": "A"])
        #expect(again.problem == .realmExists)
        let system = try await world.send(
            .post, "/api/admin/realms", body: ["realm": "system", "display_name": "S"])
        #expect(system.problem == .reservedRealm)
        for method in ["disable", "enable"] {
            let answer = try await world.send(.post, "/api/admin/realms/nowhere/\(method)")
            #expect(answer.problem == .noSuchRealm)
        }
    }

    @Test func `a realm's setting without a full schema is refused with the values it takes`()
        async throws
    {
        let world = try await World()
        for (name, expected) in [
            ("native_apps", "native_apps must list apps as ios:TEAMID.bundle or android:"),
            ("passkey_origins", "passkey_origins must list origins such as https://"),
            ("resources", "resources must list absolute addresses"),
            ("app_attest_roots", "app_attest_roots must list X.509 certificates"),
        ] {
            let answer = try await world.send(
                .patch, "/api/admin/realms/acme/settings", body: [name: ["no such thing"]])
            #expect(answer.problem == .invalidField)
            #expect(answer.json["detail"]?.string?.hasPrefix(expected) == true, "\(answer.json)")
        }
    }

    @Test func `a realm's settings are set by name and returned to their defaults by null`()
        async throws
    {
        let world = try await World()
        let path = "/api/admin/realms/acme/settings"
        let before = try await world.send(.get, path)
        #expect(before.json["display_name"] == "Acme")
        let set = try await world.send(
            .patch, path, body: ["otp_attempts": 7, "links_base_url": "https://links.example"])
        #expect(set.json["otp_attempts"] == 7)
        #expect(set.json["links_base_url"] == "https://links.example")
        #expect(try await world.send(.get, path).json == set.json)
        let unset = try await world.send(
            .patch, path, body: ["otp_attempts": .null, "links_base_url": .null])
        #expect(unset.json == before.json)
        let nothing = try await world.send(.patch, path, body: [:])
        #expect(nothing.json == before.json)
    }

    @Test func `a realm's refused setting is named in the problem`() async throws {
        let world = try await World()
        let path = "/api/admin/realms/acme/settings"
        for (body, field) in [
            (["display_name": .null], "display_name"), (["otp_attempts": 0], "otp_attempts"),
            (["links_base_url": "http://plain.example"], "links_base_url"),
            (["no_such": 1], "no_such"), (["display_name": " "], "display_name"),
        ] as [(JSON, String)] {
            let answer = try await world.send(.patch, path, body: body)
            #expect(answer.status == .badRequest)
            #expect(answer.field == field)
        }
    }
}

@Suite struct `A host over HTTP` {
    private let path = "/api/admin/realms/acme/hosts"

    @Test func `a host assigned over HTTP leads to one realm until it is released`() async throws {
        let world = try await World()
        try await world.make("/api/admin/realms", ["realm": "demo", "display_name": "D"])
        let made = try await world.make(path, ["host": "login.example:8443"])
        #expect(
            made.response.headers["Location"]
                == "/api/admin/realms/acme/hosts/login.example%3A8443")
        let taken = try await world.send(
            .post, "/api/admin/realms/demo/hosts", body: ["host": "login.example:8443"])
        #expect(taken.problem == .hostTaken)
        let foreign = try await world.send(
            .delete, "/api/admin/realms/demo/hosts/login.example%3A8443")
        #expect(foreign.problem == .noSuchHost)
        let gone = try await world.send(.delete, path + "/login.example%3A8443")
        #expect(gone.status == .noContent)
        try await world.make("/api/admin/realms/demo/hosts", ["host": "login.example:8443"])
    }

    @Test func `assigning a host over HTTP needs a realm and a valid name`() async throws {
        let world = try await World()
        let nowhere = try await world.send(
            .post, "/api/admin/realms/nowhere/hosts", body: ["host": "a.example"])
        #expect(nowhere.problem == .noSuchRealm)
        for host in ["a.example:443", "ab--c.example", "A.example", "a..b", ".a", "a/b"] {
            let answer = try await world.send(.post, path, body: ["host": .string(host)])
            #expect(answer.problem == .invalidField, "\(host)")
            #expect(answer.field == "host")
        }
    }
}

@Suite struct `An app over HTTP` {
    private let path = "/api/admin/realms/acme/apps"

    @Test func `an app can be created, changed and deleted over HTTP`() async throws {
        let world = try await World()
        let made = try await world.make(path, ["slug": "shop", "name": "Shop"])
        let location = try #require(made.response.headers["Location"])
        let changed = try await world.send(
            .patch, location,
            body: ["name": "Store", "settings": ["otp_attempts": 2, "registration": .null]])
        #expect(changed.json["name"] == "Store")
        #expect(changed.json["slug"] == "shop")
        #expect(changed.json["settings"] == ["otp_attempts": 2])
        #expect(try await world.send(.get, location).json == changed.json)
        let taken = try await world.send(.post, path, body: ["slug": "shop", "name": "Other"])
        #expect(taken.problem == .appExists)
        #expect(taken.field == "slug")
        let renamed = try await world.send(.patch, location, body: ["slug": "desk"])
        #expect(renamed.problem == .appExists)
        #expect(try await world.send(.delete, location).status == .noContent)
        for method in [Method.get, .delete] {
            #expect(try await world.send(method, location).problem == .noSuchApp)
        }
        #expect(try await world.send(.patch, location, body: [:]).problem == .noSuchApp)
    }

    /// Its clients would follow the realm, and so get more than was meant for them.
    @Test func `an app with clients is not deleted, and the problem names them`() async throws {
        let world = try await World()
        let made = try await world.make(path, ["slug": "till", "name": "Till"])
        let location = "\(path)/\(try #require(made.json["id"]?.string))"
        let clients = "/api/admin/realms/acme/clients"
        for name in ["a", "b", "c", "d"] {
            try await world.make(
                clients,
                [
                    "client_id": .string(name), "app_id": made.json["id"] ?? .null,
                    "redirect_uris": ["https://till.acme.example/back"],
                ])
        }
        let before = try await world.events().count
        let refused = try await world.send(.delete, location)
        #expect(refused.status == .conflict && refused.problem == .appInUse)
        let detail = try #require(refused.json["detail"]?.string)
        #expect(detail.hasPrefix("4 clients are left (") && detail.contains(", …): each"))
        #expect(try await world.events().count == before)
        // One that is disabled may be enabled again.
        #expect(try await world.send(.post, "\(clients)/a/disable").status == .ok)
        for name in ["b", "c"] {
            #expect(try await world.send(.delete, "\(clients)/\(name)").status == .noContent)
        }
        let moved = try await world.send(
            .put, "\(clients)/d", body: ["redirect_uris": ["https://till.acme.example/back"]])
        #expect(moved.status == .ok)
        let last = try await world.send(.delete, location)
        #expect(last.json["detail"]?.string?.hasPrefix("1 client is left (a):") == true)
        #expect(try await world.send(.delete, "\(clients)/a").status == .noContent)
        #expect(try await world.send(.delete, location).status == .noContent)
    }

    @Test func `an app over HTTP takes none of the settings that are the realm's alone`()
        async throws
    {
        let world = try await World()
        let id = try #require(world.names["app_id"])
        let answer = try await world.send(
            .patch, "\(path)/\(id)", body: ["settings": ["code_lifetime": 30]])
        #expect(answer.status == .badRequest)
        #expect(answer.field == "settings/code_lifetime")
    }

    @Test func `an app over HTTP needs an existing, enabled realm`() async throws {
        let world = try await World()
        let id = try #require(world.names["app_id"])
        let other = "/api/admin/realms/nowhere/apps"
        let body: JSON = ["slug": "a", "name": "A"]
        #expect(try await world.send(.post, other, body: body).problem == .noSuchRealm)
        #expect(try await world.send(.get, "\(other)/\(id)").problem == .noSuchRealm)
        #expect(try await world.send(.patch, "\(other)/\(id)", body: [:]).problem == .noSuchRealm)
        #expect(try await world.send(.delete, "\(other)/\(id)").problem == .noSuchRealm)
        _ = try await world.send(.post, "/api/admin/realms/acme/disable")
        #expect(try await world.send(.post, path, body: body).problem == .realmDisabled)
        #expect(try await world.send(.patch, "\(path)/\(id)", body: [:]).problem == .realmDisabled)
        #expect(try await world.send(.delete, "\(path)/\(id)").problem == .realmDisabled)
    }
}

@Suite struct `An admin key over HTTP` {
    @Test func `an admin key opens the realms that it names until it is revoked`() async throws {
        let world = try await World()
        let made = try await world.make("/api/admin/keys", ["name": "ops", "realms": ["acme"]])
        let key = try #require(made.json["key"]?.string.flatMap { BearerKey($0) })
        #expect(made.json["id"]?.string == key.id.description)
        let inside = try await world.send(.get, "/api/admin/realms/acme", key: key)
        #expect(inside.status == .ok)
        #expect(try await world.send(.get, "/api/admin/realms", key: key).problem == .forbidden)
        let listed = try await world.send(.get, "/api/admin/keys")
        #expect(!listed.response.body.contains(key.text))
        let shown = try await world.send(.get, "/api/admin/keys/\(key.id)")
        #expect(shown.json["key"] == nil)
        #expect(shown.json["revoked_at"] == .null)
        let revoked = try await world.send(.post, "/api/admin/keys/\(key.id)/revoke")
        #expect(revoked.json["revoked_at"]?.string != nil)
        let after = try await world.send(.get, "/api/admin/realms/acme", key: key)
        #expect(after.problem == .unauthenticated)
    }

    @Test func `an admin key opens all realms only where no list of realms is given`() async throws
    {
        let world = try await World()
        let nowhere = try await world.send(
            .post, "/api/admin/keys", body: ["name": "ops", "realms": ["acme", "nowhere"]])
        #expect(nowhere.problem == .invalidField && nowhere.field == "realms/1")
        #expect(nowhere.json["detail"] == "There is no realm 'nowhere'.")
        let made = try await world.make("/api/admin/keys", ["name": "ops", "realms": .null])
        #expect(made.json["realms"] == .null)
        let key = try #require(made.json["key"]?.string.flatMap { BearerKey($0) })
        #expect(try await world.send(.get, "/api/admin/realms", key: key).status == .ok)
        let none = try await world.send(
            .post, "/api/admin/keys", body: ["name": "ops", "realms": []])
        #expect(none.problem == .invalidField)
    }

    @Test func `an unknown admin key is not found`() async throws {
        let world = try await World()
        let path = "/api/admin/keys/\(UUID.zero)"
        #expect(try await world.send(.get, path).problem == .noSuchKey)
        #expect(try await world.send(.post, path + "/revoke").problem == .noSuchKey)
    }

    @Test func `an admin key is recognised by its exact form`() {
        let key = BearerKey(id: .zero, secret: Random.bytes(32))
        #expect(BearerKey(key.text)?.digest(limitedTo: .all) == key.digest(limitedTo: .all))
        for wrong in [
            "", "urdadm_", String(key.text.dropLast()), key.text + "A", "urdadn_" + key.text,
            key.text.replacing("urdadm", with: "URDADM"), String(repeating: "é", count: 40),
        ] {
            #expect(BearerKey(wrong) == nil)
        }
    }

    @Test func `an admin key's Bearer scheme may stand in any case`() async throws {
        let world = try await World()
        for scheme in ["bearer", "BEARER"] {
            let answer = try await world.send(
                Request(
                    method: .get, path: "/api/admin/realms", query: nil,
                    headers: ["Authorization": "\(scheme) \(world.key.text)"], body: [],
                    source: "", id: "r"))
            #expect(answer.status == .ok)
        }
    }
}

extension [UInt8] {
    func contains(_ text: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(text)
    }
}
