import EventStore
import Testing

@testable import urd

@Suite struct `The memory of who keeps writes out` {
    private let start = ContinuousClock.now

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func block(
        _ process: Int32, _ place: WriteBlock.Place, transaction: String = "3/7",
        age: Double? = nil
    ) -> WriteBlock {
        WriteBlock(
            process: process, role: "postgres", application: "psql", transaction: transaction,
            age: age, place: place)
    }

    @Test func `a lock is told once it has been held for longer than a write takes`() {
        var memory = BlockMemory()
        let lock = block(7, .table("command"))
        memory.note([lock], at: start)
        memory.note([lock], at: after(9))
        #expect(memory.standing.isEmpty)
        memory.note([lock], at: after(12))
        #expect(
            memory.standing.map(\.words) == [
                "session 7 (postgres, psql) has locked urd.command for 12 s: no write gets through"
            ])
        #expect(memory.standing.map(\.isOfAll) == [true])
        memory.note([], at: after(13))
        #expect(memory.standing.isEmpty)
    }

    @Test func `another transaction of the same session begins anew`() {
        var memory = BlockMemory()
        memory.note([block(7, .log(realm: "acme"))], at: start)
        memory.note([block(7, .log(realm: "acme"), transaction: "3/8")], at: after(12))
        #expect(memory.standing.isEmpty)
    }

    @Test func `a lock is told at once where the database shows how long it has lasted`() {
        var memory = BlockMemory()
        memory.note([block(7, .log(realm: "acme"), age: 300.5)], at: start)
        #expect(
            memory.standing.map(\.words) == [
                "session 7 (postgres, psql) has locked the log of acme for 300 s: no write to it "
                    + "gets through"
            ])
        #expect(memory.standing.map(\.isOfAll) == [false])
    }

    @Test func `a session that others wait for in turn is told`() {
        var memory = BlockMemory()
        let rows = block(7, .rows("stream"))
        memory.note([rows], at: start)
        memory.note([], at: after(6))
        memory.note([rows], at: after(11))
        #expect(
            memory.standing.map(\.words) == [
                "session 7 (postgres, psql) has kept others waiting for 11 s, in urd.stream"
            ])
        memory.note([], at: after(31))
        #expect(!memory.standing.isEmpty)
        memory.note([], at: after(32))
        #expect(memory.standing.isEmpty)
    }
}
