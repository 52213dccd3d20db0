import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The recorded origin of an event` {
    private let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Everything from the first code to the end of the session, asked for by one phone.
    @Test func `an event's origin records the trace, the network and the program of the request`()
        async throws
    {
        let world = try await SignInWorld()
        let before = try await world.events().count
        func ask(_ path: String, _ body: String, _ type: String) async throws -> Answered {
            try await world.send(
                Request(
                    method: .post, path: path, query: nil,
                    headers: [
                        "Host": "id.acme.example", "Content-Type": type, "traceparent": trace,
                        "User-Agent": "Acme/1 (iPhone)",
                    ], body: Array(body.utf8), source: "203.0.113.7", id: "request-4"))
        }
        let form = "application/x-www-form-urlencoded"
        _ = try await ask(
            "/api/account/native/otp/request", #"{"Email":"ann@example.org"}"#, "application/json")
        let redeem =
            "grant_type=urn%3Acocoar%3Aotp&client_id=phone&username=ann%40example.org"
            + "&scope=openid+offline_access&otp_code="
        #expect(try await ask("/connect/token", redeem + "000000", form).status == .badRequest)
        let tokens = try await ask("/connect/token", redeem + (try await world.mailedCode()), form)
        let refresh = try #require(tokens.json["refresh_token"]?.string)
        let renewed = try await ask(
            "/connect/token", "grant_type=refresh_token&client_id=phone&refresh_token=\(refresh)",
            form)
        let access = try #require(renewed.json["access_token"]?.string)
        let revoked = try await ask("/connect/revoke", "client_id=phone&token=\(access)", form)
        #expect(revoked.status == .ok)
        let wrong = try await ask(
            "/connect/token", "grant_type=client_credentials&client_id=service&client_secret=x",
            form)
        #expect(wrong.status == .unauthorized)
        let events = try await world.log.events(
            from: Int64(before) + 1, limit: .max, in: world.realm)
        for name in [
            "otp.issued", "session.refused", "session.opened", "session.refreshed", "session.ended",
        ] {
            #expect(events.contains { $0.name == name }, "\(name)")
        }
        for event in events where event.actor != "system" {
            #expect(event.correlation == trace, "\(event.name)")
            guard case .opened(let sealed) = event.personal else { continue }
            #expect(sealed["$address"] == "203.0.113.7", "\(event.name)")
            #expect(sealed["$userAgent"] == "Acme/1 (iPhone)", "\(event.name)")
        }
        #expect(!events.allSatisfy { $0.actor == "system" })
    }

    @Test(arguments: [
        "", "trace", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
    ])
    func `a malformed trace is not recorded in an event's origin`(text: String) async throws {
        let request = Request(
            method: .get, path: "/", query: nil, headers: ["traceparent": text], body: [],
            source: "203.0.113.7", id: "request-5")
        let now = Timestamp(microseconds: 0)
        #expect(Origin("system", of: request, from: nil, at: now).correlation == nil)
    }
}
