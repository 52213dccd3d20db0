import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `What an app asks before anybody signs in` {
    private func info(_ world: SignInWorld, client: String? = nil) async throws -> JSON {
        let answer = try await world.send(
            Request(
                method: .get, path: "/api/app-info", query: client.map { "client_id=\($0)" },
                headers: ["Host": "id.acme.example"], body: [], source: "203.0.113.7", id: "r"))
        #expect(answer.status == .ok)
        return answer.json
    }

    @Test func `MOD-16: the fields of registration, in three words`() async throws {
        let usual = try await info(SignInWorld())
        #expect(usual["DisplayName"] == "Acme" && usual["Registration"] == "JitOnOtp")
        #expect(
            usual["RegistrationFields"] == [
                "Email": "Required", "Username": "Off", "Firstname": "Optional",
                "Lastname": "Optional",
            ])
        let strict = try await info(
            SignInWorld([
                "registration_first_name": "required", "registration_last_name": "off",
                "registration": "explicit_endpoint",
            ]))
        #expect(strict["RegistrationFields"]?["Firstname"] == "Required")
        #expect(strict["RegistrationFields"]?["Lastname"] == "Off")
        #expect(strict["Registration"] == "ExplicitEndpoint")
    }

    @Test func `MOD-16: the ways to sign in, of a client those that it may use`() async throws {
        let world = try await SignInWorld()
        #expect(try await info(world)["NativeGrants"]?["Otp"] == true)
        #expect(try await info(world, client: "phone")["NativeGrants"]?["Otp"] == true)
        for client in ["service", "nobody"] {
            let ways = try await info(world, client: client)["NativeGrants"]
            #expect(ways?["Enabled"] == true && ways?["Otp"] == false)
        }
        let closed = try await info(SignInWorld(["native_grants": false]), client: "phone")
        #expect(closed["NativeGrants"]?["Enabled"] == false)
        #expect(closed["NativeGrants"]?["Otp"] == false)
    }
}
