import EventSourcing
import Testing
import Values

@testable import ReadModels

@Suite struct `Sessions whose clients are to hear of their end` {
    private let now = Timestamp(seconds: 1_800_000_000)

    private let asking = UUID(high: 9, low: 9)
    private let silent = UUID(high: 9, low: 8)

    private func registered(_ client: UUID, _ more: String) -> Happening {
        Happening(
            "client.registered", client, version: 1,
            #"{"client_id":"\#(client)","grant_types":["authorization_code"]\#(more)}"#)
    }

    private func opened(
        _ session: UInt64, _ account: UUID, stamp: Int, _ more: String, by client: UUID? = nil
    ) -> Happening {
        Happening(
            "session.opened", UUID(high: session, low: 1), version: 1,
            """
            {"account":"\(account)","stamp":\(stamp),"client":"\(client ?? asking)",
            "client_id":"c","scope":[],"resources":[],"amr":[],"opened_at":1,"offline":true,
            "expires_at":1900000000\(more)}
            """)
    }

    @Test func `lapsed sessions are those that their account ended, and no others`() async throws {
        let world = try World()
        let (ann, bob) = (UUID(high: 1, low: 1), UUID(high: 2, low: 1))
        let issuer = #","issuer":"https://id.example""#
        let place = #","backchannel_logout_uri":"https://app.example/logout""#
        try world.append([registered(asking, place), registered(silent, "")], in: "one")
        try world.append(
            [ann, bob].map {
                Happening(
                    "account.registered", $0, version: 1,
                    #"{"mailbox":"\#($0)","confirmed":true,"origin":"code"}"#)
            }, in: "one")
        try world.append(
            [
                opened(11, ann, stamp: 0, issuer), opened(12, ann, stamp: 0, ""),
                opened(13, bob, stamp: 0, issuer), opened(14, ann, stamp: 0, issuer),
                // Its client does not want to hear of it.
                opened(16, ann, stamp: 0, issuer, by: silent),
            ], in: "one")
        let sessions = LapsedSessions(world.pool)
        #expect(try await sessions.page(at: now, limit: 10).isEmpty)
        try world.append([Happening("account.stamp_rotated", ann, version: 2)], in: "one")
        try world.append([opened(15, ann, stamp: 1, issuer)], in: "one")
        func found() async throws -> [UInt64] {
            try await sessions.page(at: now, limit: 10).map(\.session.high)
        }
        #expect(try await found() == [11, 14])
        #expect(try await sessions.page(at: now, limit: 1).count == 1)
        try world.append(
            [
                Happening(
                    "session.ended", UUID(high: 11, low: 1), version: 2, #"{"reason":"lapsed"}"#)
            ],
            in: "one")
        #expect(try await found() == [14])
        try world.append([Happening("account.disabled", bob, version: 2)], in: "one")
        #expect(try await found() == [13, 14])
        // The place that access is removed from ends what was opened before, and nothing that is opened later.
        try world.append(
            [
                Happening(
                    "account.access_removed", ann, version: 3,
                    #"{"client":"\#(asking)","removals":1}"#),
                opened(17, ann, stamp: 1, issuer + #","removals":1"#),
            ], in: "one")
        #expect(try await found() == [13, 14, 15])
        // Whoever is gone is ended as well, and what is long over is nobody's concern.
        try world.append(
            [Happening("account.deleted", ann, version: 4, #"{"subjects":[]}"#)], in: "one")
        #expect(try await found() == [13, 14, 15, 17])
        let late = Timestamp(seconds: 1_900_000_000)
        #expect(try await sessions.page(at: late, limit: 10).isEmpty)
    }

    @Test func `lapsed sessions are those as well whose opener is over, however far up`()
        async throws
    {
        let world = try World()
        let (ann, phone) = (UUID(high: 1, low: 1), UUID(high: 3, low: 1))
        let issuer = #","issuer":"https://id.example""#
        func by(_ session: UInt64) -> String {
            issuer
                + #","opener_client":"\#(phone)","opener_session":"\#(UUID(high: session, low: 1))""#
        }
        let place = #","backchannel_logout_uri":"https://app.example/logout""#
        try world.append([registered(asking, place), registered(phone, "")], in: "one")
        try world.append(
            [
                Happening(
                    "account.registered", ann, version: 1,
                    #"{"mailbox":"\#(ann)","confirmed":true,"origin":"code"}"#),
                // A phone, its second session by a web view, and what clients got by web views of either.
                opened(11, ann, stamp: 0, issuer, by: phone),
                opened(12, ann, stamp: 0, by(11), by: phone),
                opened(13, ann, stamp: 0, by(11)), opened(14, ann, stamp: 0, by(12)),
                opened(15, ann, stamp: 0, issuer + #","opener_client":"\#(phone)""#),
                opened(16, ann, stamp: 0, issuer),
                // Nobody asks of it.
                opened(17, ann, stamp: 0, by(11), by: phone),
            ], in: "one")
        let sessions = LapsedSessions(world.pool)
        func found(after events: [Happening]) async throws -> [UInt64] {
            if !events.isEmpty { try world.append(events, in: "one") }
            return try await sessions.page(at: now, limit: 10).map(\.session.high)
        }
        #expect(try await found(after: []).isEmpty)
        let ended = #"{"reason":"administrator"}"#
        #expect(
            try await found(after: [
                Happening("session.ended", UUID(high: 12, low: 1), version: 2, ended)
            ]) == [14])
        #expect(
            try await found(after: [
                Happening(
                    "account.access_removed", ann, version: 2,
                    #"{"client":"\#(phone)","removals":1}"#)
            ]) == [13, 14, 15])
        #expect(try await sessions.page(at: now, limit: 2).count == 2)
        for id in [13, 14, 15] as [UInt64] {
            try world.append(
                [
                    Happening(
                        "session.ended", UUID(high: id, low: 1), version: 2,
                        #"{"reason":"lapsed"}"#)
                ], in: "one")
        }
        #expect(try await found(after: []).isEmpty)
    }

    @Test func `lapsed sessions end with the installation that opened them`() async throws {
        let world = try World()
        let (ann, phone) = (UUID(high: 1, low: 1), UUID(high: 3, low: 1))
        let place = #","backchannel_logout_uri":"https://app.example/logout""#
        try world.append(
            [
                registered(asking, place), registered(phone, ""),
                Happening(
                    "account.registered", ann, version: 1,
                    #"{"mailbox":"\#(ann)","confirmed":true,"origin":"code"}"#),
                opened(
                    15, ann, stamp: 0,
                    #","issuer":"https://id.example","opener_client":"\#(phone)""#),
            ], in: "one")
        let sessions = LapsedSessions(world.pool)
        try world.append([Happening("client.disabled", phone, version: 2)], in: "one")
        #expect(try await sessions.page(at: now, limit: 10).isEmpty)
        try world.append([Happening("client.deleted", phone, version: 3)], in: "one")
        #expect(try await sessions.page(at: now, limit: 10).map(\.session.high) == [15])
    }

    @Test func `lapsed sessions are found once their client wants to hear of them`() async throws {
        let world = try World()
        let ann = UUID(high: 1, low: 1)
        try world.append(
            [
                registered(asking, ""),
                Happening(
                    "account.registered", ann, version: 1,
                    #"{"mailbox":"\#(ann)","confirmed":true,"origin":"code"}"#),
                opened(11, ann, stamp: 0, #","issuer":"https://id.example""#),
                Happening("account.stamp_rotated", ann, version: 2),
            ], in: "one")
        let sessions = LapsedSessions(world.pool)
        #expect(try await sessions.page(at: now, limit: 10).isEmpty)
        try world.append(
            [
                Happening(
                    "client.updated", asking, version: 2,
                    """
                    {"client_id":"\(asking)","grant_types":["authorization_code"],
                    "backchannel_logout_uri":"https://app.example/logout"}
                    """)
            ], in: "one")
        #expect(try await sessions.page(at: now, limit: 10).map(\.session.high) == [11])
    }
}
