import EventSourcing
import Identity
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

private let one = "one"

extension World {
    /// Brings the index to the end of the log.
    fileprivate func index(page: Int64 = 7) throws {
        let build = try #require(try live("event_index"))
        var step = try Step.project(one, "event_index", build, page: page, owner)
        while let now = step, now.position < now.head, now.halted == nil {
            step = try Step.project(one, "event_index", build, page: page, owner)
        }
        #expect(step?.halted == nil)
    }
}

@Suite struct `The index of events` {
    let world: World
    let realm: RealmID
    private let ada = UUID(high: 1, low: 1)
    private let eve = UUID(high: 1, low: 2)
    private let mailbox = UUID(high: 2, low: 1)
    private let session = UUID(high: 3, low: 1)
    private let client = UUID(high: 4, low: 1)

    init() throws {
        world = try World()
        realm = try #require(RealmID(one))
    }

    private func positions(_ references: EventReferences) async throws -> [Int64] {
        try await world.queries.ask(EventReferences.positions, (references, 0, 100), in: realm)
            .value
    }

    private func opened(_ stream: UUID, of account: UUID, _ more: String = "") -> Happening {
        Happening(
            "session.opened", stream, version: 1,
            #"{"account":"\#(account)","client":"\#(client)"\#(more)}"#)
    }

    @Test func `the index of events finds what a session's beginning names`() async throws {
        try world.append(
            [
                opened(session, of: ada, #","device":"iPhone","source":"here""#),
                Happening("session.refreshed", session, version: 2, #"{"generation":1}"#),
                Happening("something.else", UUID(high: 9, low: 9), version: 1),
                opened(UUID(high: 3, low: 2), of: eve),
                Happening(
                    "session.ended", session, version: 3,
                    #"{"reason":"reuse","source":"there"}"#),
            ], in: one)
        try world.index(page: 1)
        #expect(try await positions(.init(account: ada)) == [1, 2, 5])
        #expect(try await positions(.init(session: session)) == [1, 2, 5])
        #expect(try await positions(.init(client: client)) == [1, 2, 4, 5])
        #expect(try await positions(.init(account: eve, client: client)) == [4])
        #expect(try await positions(.init(source: "here")) == [1])
        #expect(try await positions(.init(account: ada, source: "there")) == [5])
        #expect(try await positions(.init(device: "iPhone")) == [1])
        let page = try await world.queries.ask(
            EventReferences.positions, (.init(account: ada), 1, 1), in: realm)
        #expect(page.value == [2] && page.position == 5 && page.epoch == 1)
        let found = try await world.queries.ask(EventReferences.ofPositions, [3, 5, 99], in: realm)
        #expect(
            found.value == [
                5: [.init(account: ada, session: session, client: client, source: "there")]
            ])
    }

    @Test func `the index of events knows whose a mailbox was at each moment`() async throws {
        func code(_ low: UInt64, _ type: String, _ version: Int, _ more: String = "") -> Happening {
            Happening(
                type, mailbox, version: version, #"{"otp":"\#(UUID(high: 5, low: low))"\#(more)}"#)
        }
        try world.append(
            [
                code(1, "otp.issued", 1), code(1, "otp.redeemed", 2),
                Happening("mailbox.assigned", mailbox, version: 3, #"{"account":"\#(ada)"}"#),
                code(2, "otp.issued", 4),
                code(3, "otp.issued", 5, #","account":"\#(eve)""#),
                code(2, "otp.refused", 6), code(3, "otp.redeemed", 7),
                Happening("mailbox.released", mailbox, version: 8, #"{"account":"\#(ada)"}"#),
                code(4, "otp.issued", 9),
                Happening("mail.sent", UUID(high: 5, low: 2), version: 1),
                Happening("mail.sent", UUID(high: 5, low: 3), version: 1),
                Happening("mail.sent", UUID(high: 5, low: 4), version: 1),
            ], in: one)
        try world.index(page: 100)
        #expect(try await positions(.init(account: ada)) == [3, 4, 6, 8, 10])
        #expect(try await positions(.init(account: eve)) == [5, 7, 11])
    }

    @Test func `the index of events finds a logout notice by the session that it is about`()
        async throws
    {
        let notice = UUID(high: 6, low: 1)
        try world.append(
            [
                opened(session, of: ada),
                Happening(
                    "session.ended", session, version: 2,
                    #"{"notice":"\#(notice)","reason":"logged_out"}"#),
                Happening("logout_notice.failed", notice, version: 1, #"{"attempt":1}"#),
            ], in: one)
        try world.index()
        #expect(try await positions(.init(session: session)) == [1, 2, 3])
        #expect(try await positions(.init(account: ada, client: client)) == [1, 2, 3])
    }

    @Test func `the index of events names each account of an event that has several`() async throws
    {
        try world.append(
            [
                Happening(
                    "personal_data.opened", UUID(high: 7, low: 1), version: 1,
                    #"{"accounts":["\#(ada)","\#(eve)","\#(ada)"],"kind":"events"}"#),
                Happening(
                    "personal_data.opened", UUID(high: 7, low: 2), version: 1,
                    #"{"accounts":[],"kind":"events"}"#),
            ], in: one)
        try world.index()
        #expect(try await positions(.init(account: ada)) == [1])
        #expect(try await positions(.init(account: eve)) == [1])
        let found = try await world.queries.ask(EventReferences.ofPositions, [1, 2], in: realm)
            .value
        #expect(found == [1: [.init(account: ada), .init(account: eve), .init(account: ada)]])
    }

    @Test func `the index of events says how far it is, and nothing of what follows`() async throws
    {
        let nothing = try await world.queries.ask(
            EventReferences.positions, (.init(account: ada), 0, 10), in: realm)
        #expect(nothing.value.isEmpty && nothing.position == 0)
        try world.append([opened(session, of: ada)], in: one)
        try world.index()
        try world.append(
            [Happening("session.ended", session, version: 2, #"{"reason":"revoked"}"#)], in: one)
        let behind = try await world.queries.ask(
            EventReferences.positions, (.init(account: ada), 0, 10), in: realm)
        #expect(behind.value == [1] && behind.position == 1)
        let reached = try await world.queries.reaches(
            .eventIndex, 2, epoch: 1, of: realm, within: .zero)
        #expect(reached == .notYet(FollowedPosition(epoch: 1, position: 1, head: 2)))
        try world.index()
        #expect(try await positions(.init(account: ada)) == [1, 2])
    }

    @Test func `the index of events tells of each type what docs/event-index.md says`() throws {
        let expected = try EventIndexPage.rows()
        let found = try EventIndexTable.rows(in: world)
        guard found != expected else { return }
        let changes = found.difference(from: expected).map { change in
            switch change {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }
        try EventIndexPage.write(found)
        Issue.record("docs/event-index.md says something else:\n\(changes.joined(separator: "\n"))")
    }
}
