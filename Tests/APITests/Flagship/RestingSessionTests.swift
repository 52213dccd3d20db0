import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `A session that rests` {
    @Test func `a session that rests without its certification is ended by its client`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let tokens = try await world.onboard(app).json
        let refresh = try #require(tokens["refresh_token"]?.string)
        let installation = try #require(Hex.decode(app.id).flatMap { UUID(bytes: $0) })
        func asleep() async throws {
            try await world.world.carryOut(
                InstallationChange.revokeCertification(installation, now: world.world.clock.next()))
            #expect(try await world.refresh(app, refresh).status != .ok)
        }
        func awake() async throws {
            let device = try AppleDevice(world.apple)
            let again = try await world.attest(
                app, device.attestation(try await world.challenge(app)).json)
            #expect(again.status == .noContent)
        }
        func giveBack(as client: TestInstallation) async throws {
            let answer = try await world.world.post(
                "/connect/revoke",
                form: [
                    ("client_id", client.id), ("client_secret", client.secret), ("token", refresh),
                ])
            #expect(answer.status == .ok)
        }
        // Another client ends nothing.
        try await asleep()
        try await giveBack(as: try await world.register("Other"))
        try await awake()
        #expect(try await world.refresh(app, refresh).status == .ok)
        try await asleep()
        try await giveBack(as: app)
        try await awake()
        #expect(try await world.refresh(app, refresh).status != .ok)
        #expect(try await world.happened("session.ended").count == 1)
        // What is over already is not ended a second time.
        try await giveBack(as: app)
        #expect(try await world.happened("session.ended").count == 1)
    }

    @Test func `a session that is over with its account is not ended on record as well`()
        async throws
    {
        let world = try await FlagshipWorld()
        let app = try await world.certified()
        let tokens = try await world.onboard(app).json
        let refresh = try #require(tokens["refresh_token"]?.string)
        try await world.world.carryOut(RotateSecurityStamp(account: world.account))
        let answer = try await world.world.post(
            "/connect/revoke",
            form: [("client_id", app.id), ("client_secret", app.secret), ("token", refresh)])
        #expect(answer.status == .ok)
        #expect(try await world.happened("session.ended").isEmpty)
    }
}
