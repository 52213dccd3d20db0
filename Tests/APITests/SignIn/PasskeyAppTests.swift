import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API
@testable import SecurityKeysTesting

/// Asked for at the realm's own host: what holds is set for the client's app.
@Suite struct `MOD-08 The passkeys of a client that belongs to an app` {
    private let app = UUID.random()

    /// Ann has signed in through `desk`, which belongs to an app, and then this is set.
    private func signedUp(
        realm: Bool, app isOn: Bool
    ) async throws -> (PasskeyWorld, token: String, account: UUID) {
        let world = try await PasskeyWorld()
        let desk = world.world
        try await desk.carryOut(AppChange.create(app, slug: "desk", name: "Desk"))
        try await desk.registerPhone(
            "desk",
            [
                "app_id": .string(app.description),
                "grant_types": ["urn:cocoar:otp", "urn:cocoar:passkey"],
            ])
        desk.clock.advance(seconds: 300)
        let tokens = try await desk.signIn("desk", scope: "openid")
        let token = try #require(tokens.json["access_token"]?.string)
        let changes: JSONObject = ["native_grants": .bool(realm)]
        try await desk.carryOut(RealmChange.setSettings(changes))
        desk.directory.add(
            desk.realm, hosts: ["id.acme.example"],
            changes.merging(["primary_domain": .string(PasskeyWorld.host)]) { own, _ in own })
        try await desk.carryOut(AppChange.update(app, settings: ["native_grants": .bool(isOn)]))
        return (world, token, world.account)
    }

    private func begin(_ world: PasskeyWorld, _ client: String?) async throws -> Answered {
        try await world.world.post(
            "/connect/passkey/begin", form: client.map { [("client_id", $0)] } ?? [])
    }

    private func isOff(_ answer: Answered) -> Bool {
        answer.status == .badRequest && answer.json["title"] == "NativeGrants.Disabled"
    }

    @Test
    func `MOD-08: an app's client has passkeys where its app turns them on and the realm not`()
        async throws
    {
        let (world, token, account) = try await signedUp(realm: false, app: true)
        for client in ["wallet", "nobody", nil] { #expect(isOff(try await begin(world, client))) }
        let key = try SoftKey(of: account)
        #expect(try await world.enroll(key, token: token).status == .ok)
        let begun = try await world.begin("desk")
        let answer = try await world.redeem(
            begun.id, try key.assertion(begun), client: "desk", scope: "openid")
        #expect(answer.status == .ok)
        let id = try #require(try await world.list(token: token).first?["Id"]?.string)
        #expect(isOff(try await world.send(.get, "/connect/passkey")), "Of the realm's client.")
        let path = "/connect/passkey/\(id)"
        let named = try await world.send(.patch, path, ["DisplayName": "Key"], token: token)
        #expect(named.status == .noContent)
        #expect(try await world.send(.delete, path, token: token).status == .noContent)
    }

    @Test func `MOD-08: an app's client has no passkeys where its app turns them off`() async throws
    {
        let (world, token, account) = try await signedUp(realm: true, app: false)
        let begun = try await world.beginEnrollment()
        for client in ["wallet", "nobody", nil] {
            #expect(try await begin(world, client).status == .ok)
        }
        #expect(isOff(try await begin(world, "desk")))
        let enrollment = "/connect/passkey/enroll"
        #expect(isOff(try await world.send(.post, enrollment + "/begin", token: token)))
        let attestation = try SoftKey(of: account).attestation(begun)
        #expect(isOff(try await world.enroll(begun, attestation, token: token)))
        #expect(try await world.list().isEmpty)
        let path = "/connect/passkey/\(UUID.random())"
        #expect(isOff(try await world.send(.get, "/connect/passkey", token: token)))
        #expect(isOff(try await world.send(.patch, path, ["DisplayName": "K"], token: token)))
        #expect(isOff(try await world.send(.delete, path, token: token)))
    }
}
