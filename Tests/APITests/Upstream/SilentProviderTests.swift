import HTTP
import JSON
import Testing

@testable import API

@Suite struct `A provider that does not answer` {
    @Test func `a delegated code is refused in the provider's name, not the database's`()
        async throws
    {
        let world = try await World()
        let path = "/api/admin/realms/acme/providers/silent"
        let made = try await world.send(
            .put, path,
            body: [
                "name": "Silent", "issuer": "https://silent.example", "client_id": "urd",
                "client_secret": "hush",
            ])
        #expect(made.status == .ok, "\(made.json)")
        let answer = try await world.send(
            .post, path + "/code", body: ["access_token": "SlAV32hkKG"])
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.json["type"] == "/problems/provider-unreachable")
        #expect(answer.json["detail"]?.string?.contains("https://silent.example") == true)
        #expect(answer.response.headers["Retry-After"] != nil)
    }
}
