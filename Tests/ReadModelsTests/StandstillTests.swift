import EventStore
import Postgres
import PostgresTesting
import Testing
import Values

@testable import ReadModels

@Suite struct `What waits in the database` {
    private let begin = Timestamp(microseconds: 1_790_000_000_000_000)

    private func later(_ seconds: Int64) -> Timestamp {
        Timestamp(microseconds: begin.microseconds + seconds * 1_000_000)
    }

    private func mail(_ low: UInt64) -> UUID { UUID(high: 9, low: low) }

    @Test func `a read model that follows is told once its next event has waited for long`() throws
    {
        let world = try World([fragile(.following), fragile(.inline, name: "moved")])
        for realm in ["one", "two"] { try world.append(numbered([1, 2, 3]), in: realm) }
        _ = try Step.project("one", "fragile", 1, page: 1, world.owner)
        let application = try Connection(world.database.application)
        #expect(try ProjectionStandstill.read(at: later(29), application).isEmpty)
        // Positions count microseconds in a test's events.
        #expect(
            try ProjectionStandstill.read(at: later(95), application).map {
                [
                    $0.projection, $0.realm, "\(Int($0.seconds.rounded()))", "\($0.events)",
                    "\($0.realms)",
                ]
            } == [["fragile", "two", "95", "3", "2"]])
        for realm in ["one", "two"] {
            _ = try Step.project(realm, "fragile", 1, page: 10, world.owner)
        }
        #expect(try ProjectionStandstill.read(at: later(95), application).isEmpty)
        // It is the database's time that counts where none is given, and these events are of another day.
        #expect(try ProjectionStandstill.read(application).isEmpty)
    }

    @Test func `mails are told once the oldest has waited for minutes, with the last reason`()
        throws
    {
        let world = try World()
        func order(_ low: UInt64, _ channel: String = "") -> Happening {
            Happening(
                "notification.mailed", UUID(high: 1, low: low), version: 1,
                #"{"mail":"\#(mail(low))"\#(channel)}"#, at: begin)
        }
        func deferred(_ low: UInt64, _ attempt: Int, _ code: Int, _ reason: String) -> Happening {
            Happening(
                "mail.deferred", mail(low), version: attempt,
                #"{"attempt":\#(attempt),"until":1790000900,"code":\#(code),"reason":"\#(reason)"}"#,
                at: later(Int64(attempt)))
        }
        try world.append([order(1), order(2), order(3, #","channel":"sms""#), order(4)], in: "one")
        try world.append(
            [
                deferred(1, 1, 0, "not_connected"), deferred(1, 2, 451, "refused"),
                deferred(2, 1, 0, "timed_out"),
                Happening("mail.sent", mail(4), version: 1, #"{"attempt":1}"#),
            ], in: "one")
        while let step = try Step.project("one", "mails", 1, page: 100, world.owner),
            step.position < step.head
        {}
        let application = try Connection(world.database.application)
        #expect(try WaitingMails.read(at: later(299), application).isEmpty)
        let found = try WaitingMails.read(at: later(600), application)
        #expect(found.map(\.areMessages) == [false, true])
        #expect(found.map(\.count) == [2, 1])
        #expect(found.map(\.reason) == ["refused 451", nil])
        #expect(found.map(\.realm) == ["one", "one"])
        #expect(found.first.map { Int($0.seconds.rounded()) } == 600)
    }

    @Test(arguments: [Projection.Kind.inline, .following])
    func `a position that is lost is found again, and nothing is applied twice`(
        kind: Projection.Kind
    ) throws {
        let world = try World([fragile(kind)])
        for realm in ["one", "two"] { try world.append(numbered([1, 2, 3]), in: realm) }
        func goOn() throws {
            for realm in ["one", "two"] {
                _ = try Step.project(realm, "fragile", 1, page: 10, world.owner)
            }
        }
        try goOn()
        let rows = try world.rows("fragile_1")
        func lose(_ more: String = "") throws {
            try world.superuser.run(
                "delete from urd.projection_position where realm = 'one'; \(more)")
            #expect(try world.value("urd.enroll()") == "1")
            try goOn()
        }
        try lose()
        #expect(try world.rows("fragile_1") == rows)
        #expect(try world.status("fragile", "one")?.lag == 0)
        #expect(
            try world.status("fragile", "one")?.state == (kind == .inline ? .attached : .following))
        // An inline one that append does not move any more either is filled anew.
        try lose("update urd.realm_log set attached = '{}' where realm = 'one'")
        #expect(try world.rows("fragile_1") == rows)
        #expect(try world.status("fragile", "one")?.halt == nil)
        #expect(try world.status("fragile", "one")?.lag == 0)
        try world.append(numbered([4]), in: "one")
        #expect(try world.status("fragile", "two")?.lag == 0)
    }
}
