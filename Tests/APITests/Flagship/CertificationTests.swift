import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Decision 0105.
@Suite struct `A certification` {
    private func id(_ app: TestInstallation) throws -> UUID {
        try #require(UUID(bytes: Hex.decode(app.id) ?? []))
    }

    private func revoke(_ app: TestInstallation, in world: FlagshipWorld) async throws {
        try await world.world.carryOut(
            InstallationChange.revokeCertification(try id(app), now: world.world.clock.next()))
    }

    private func isCertified(
        _ app: TestInstallation, in world: FlagshipWorld
    ) async throws -> Bool {
        let found = try await world.send(.get, "/auth/register/\(app.id)", bearer: app.token)
        return found.json["flagship"] == true
    }

    @Test func `COZ-08: a revoked certification ends all that it gave`() async throws {
        let world = try await FlagshipWorld()
        try await world.add(FlagshipWorld.drive)
        try await world.add(FlagshipWorld.bank)
        let app = try await world.certified()
        let tokens = try await world.onboard(app)
        let access = try #require(tokens.json["access_token"]?.string)
        let refresh = try #require(tokens.json["refresh_token"]?.string)
        let opened = try await world.open("drive", access)
        let webApp = try #require(opened.json["data"]?["attributes"]?["Token"]?.string)
        let konnector = try #require(
            try await world.konnectorToken("bank", access).json.string)
        func areGood() async throws -> [Bool] {
            [
                try await world.sessionCode(access).status == .created,
                try await world.open("drive", access).status == .ok,
                try await world.send(.get, "/settings/clients", bearer: access).status == .ok,
                try await world.refresh(app, refresh).status == .ok,
                try await world.world.introspect(access)["active"] == true,
                try await world.world.introspect(webApp)["active"] == true,
                try await world.world.introspect(konnector)["active"] == true,
            ]
        }
        #expect(try await areGood().allSatisfy(\.self))
        try await revoke(app, in: world)
        #expect(try await areGood().allSatisfy { !$0 })
        #expect(try await !isCertified(app, in: world))
        #expect(try await world.refresh(app, refresh).json["error"] == "invalid refresh token")
        // It gets no tokens for everything, and it is there still.
        #expect(try await world.login(app).status == .accepted)
        // Its store vouches for it again: nobody has to sign in.
        let device = try AppleDevice(world.apple)
        let again = try await world.attest(
            app, device.attestation(try await world.challenge(app)).json)
        #expect(again.status == .noContent)
        #expect(try await areGood().allSatisfy(\.self))
    }

    @Test func `COZ-08: an app with another redirect URI or software needs a new certification`()
        async throws
    {
        for change: JSONObject in [
            ["redirect_uris": ["cozy://", "evil://"]], ["redirect_uris": ["evil://"]],
            ["software_id": "other"],
        ] {
            let world = try await FlagshipWorld()
            let app = try await world.certified()
            let access = try #require(
                try await world.onboard(app).json["access_token"]?.string)
            let path = "/auth/register/\(app.id)"
            let same = try await world.send(
                .put, path, json: app.update(["client_os": "iOS", "client_name": "Mine"]),
                bearer: app.token)
            #expect(same.json["flagship"] == true)
            #expect(try await world.sessionCode(access).status == .created)
            let updated = try await world.send(
                .put, path, json: app.update(change), bearer: app.token)
            #expect(updated.status == .ok && updated.json["flagship"] == nil, "\(change)")
            #expect(try await world.sessionCode(access).status == .badRequest)
            #expect(try await world.login(app).status == .accepted)
            let ended = try await world.happened("client.certification_revoked")
            #expect(ended.map { $0.open["reason"] } == ["metadata_changed"])
        }
    }

    @Test func `COZ-06: an attested key certifies one client`() async throws {
        let world = try await FlagshipWorld()
        let (app, other) = (try await world.register(), try await world.register("Other"))
        let device = try AppleDevice(world.apple)
        func attest(_ app: TestInstallation) async throws -> Answered {
            try await world.attest(
                app, device.attestation(try await world.challenge(app)).json)
        }
        #expect(try await attest(app).status == .noContent)
        // The same one again, and another key between.
        #expect(try await attest(app).status == .noContent)
        let second = try AppleDevice(world.apple)
        #expect(
            try await world.attest(
                app, second.attestation(try await world.challenge(app)).json
            ).status == .noContent)
        #expect(try await attest(app).status == .noContent)
        let challenge = try await world.challenge(other)
        let word = try device.attestation(challenge).json
        let stolen = try await world.attest(other, word)
        #expect(stolen.status == .badRequest && stolen.json == ["error": "invalid key id"])
        #expect(
            try await world.happened("attestation.refused").last?.open["reason"] == "key_taken")
        #expect(try await world.attest(other, word).json["error"] == "invalid challenge")
        #expect(try await !isCertified(other, in: world))
        // Nor once the first one is gone.
        _ = try await world.send(.delete, "/auth/register/\(app.id)", bearer: app.token)
        #expect(try await attest(other).status == .badRequest)
    }

    @Test func `COZ-06: an attested key that certifies twenty clients at once certifies one`()
        async throws
    {
        let world = try await FlagshipWorld()
        let device = try AppleDevice(world.apple)
        var words: [(TestInstallation, JSON)] = []
        for number in 0..<20 {
            let app = try await world.register("Phone \(number)")
            words.append((app, try device.attestation(try await world.challenge(app)).json))
        }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for (app, word) in words {
                group.addTask { try await world.attest(app, word).status.code }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 204 } == 1)
        #expect(statuses.count { $0 == 400 } == 19)
        #expect(try await world.happened("client.certified").count == 1)
    }
}
