import EventSourcing
import Foundation
import Postgres
import PostgresTesting
import Telemetry
import Testing
import Values

@testable import EventStore

/// A real primary and its asynchronous standby, which is promoted without the tail of the log.
@Suite struct `A failover that loses the tail of the log` {
    private let pair: StandbyPair
    private let database: TestDatabase
    private let master = MasterKey.generate()
    private let realm = newRealm()

    init() throws {
        pair = try StandbyPair()
        database = try pair.makeDatabase()
    }

    private func node() throws -> TestStore {
        try TestStore(database, master: master)
    }

    private func append(_ store: TestStore, to stream: UUID = newID()) async throws -> Positions {
        try expectWon(await store.log.append(commit(to: stream, in: realm)))
    }

    /// Appends to the server that takes writes now, after connections to the one before were lost.
    private func appendAgain(_ store: TestStore) async throws -> Positions {
        var won: Positions?
        try await eventually("an append is taken") {
            if case .success(.won(let positions)) = await ending(
                store.log, commit(to: newID(), in: realm))
            {
                won = positions
            }
            return won != nil
        }
        return try #require(won)
    }

    @Test func `a lost tail is noticed by a read-only node before the next append`() async throws {
        let (writer, reader) = (try node(), try node())
        defer {
            writer.log.close()
            reader.log.close()
        }
        _ = try await append(writer)
        try pair.cutOff()
        let (lostRealm, lostStream) = (newRealm(), newID())
        _ = try await append(writer, to: lostStream)
        try expectWon(await writer.log.append(commit(to: newID(), in: lostRealm)))
        await reader.log.pollHeads()
        #expect(reader.log.hub.head(of: realm) == 2)
        #expect(reader.log.hub.epoch(of: realm) == 1)
        #expect(Set(reader.log.hub.realms) == [realm, lostRealm])
        let before = [realm, lostRealm].map { reader.log.hub.configuration(of: $0) }
        let held = try await reader.keyring.keys(of: lostRealm).derive("test", [1])

        try pair.failOver()
        try await eventually("the reader hears of another epoch") {
            await reader.log.pollHeads()
            return reader.log.hub.epoch(of: realm) != 1
        }
        // Nobody has appended: a session that reads moved the epoch.
        #expect(reader.log.hub.head(of: realm) == 1)
        #expect(reader.log.hub.epoch(of: realm) == 2)
        #expect(reader.log.hub.realms == [realm])
        for (realm, number) in zip([realm, lostRealm], before) {
            #expect(reader.log.hub.configuration(of: realm) != number)
        }
        #expect(try await reader.log.stream(lostStream, after: 0, in: realm).isEmpty)
        // Keys that were made in the lost tail are in no database.
        #expect(
            try await reader.keyring.keys(of: lostRealm).derive("test", [1]) != held)
    }

    @Test func `a lost tail ends its followers, and wakes those of the new epoch`() async throws {
        let (writer, reader) = (try node(), try node())
        defer {
            writer.log.close()
            reader.log.close()
        }
        _ = try await append(writer)
        try pair.cutOff()
        _ = try await append(writer)
        await reader.log.pollHeads()
        let (log, hub, realm) = (reader.log, reader.log.hub, realm)
        let restarts = hub.restarts(of: realm)
        let follower = Task { await hub.wait(past: 2, in: realm, since: restarts) }
        try pair.failOver()
        try await eventually("the reader hears of another epoch") {
            await log.pollHeads()
            return hub.epoch(of: realm) == 2
        }
        await follower.value
        #expect(log.hub.head(of: realm) == 1)
    }

    @Test func `a lost tail leaves no read session waiting for a missing standby`() async throws {
        let (writer, reader) = (try node(), try node())
        _ = try await append(writer)
        await reader.log.pollHeads()
        try pair.cutOff()
        let promoted = try Connection(
            database.at(pair.standby.folder).superuser, readOnly: true)
        try promoted.run("alter system set synchronous_standby_names = 'nobody'")
        try promoted.run("select pg_reload_conf()")
        try pair.failOver()
        // The first session that comes to the new primary is a committer's.
        let (log, realm) = (writer.log, realm)
        let waiting = Task { _ = await ending(log, commit(to: newID(), in: realm)) }
        try await eventually("a committer has moved the epoch") {
            try promoted.run("select max(epoch)::text from urd.realm_log").text(0, 0) == "2"
        }
        try await eventually("the reader hears of it") {
            await reader.log.pollHeads()
            return reader.log.hub.epoch(of: realm) == 2
        }
        try promoted.run("alter system reset synchronous_standby_names")
        try promoted.run("select pg_reload_conf()")
        await waiting.value
        writer.log.close()
        reader.log.close()
    }

    @Test func `a lost tail never gives two logs one epoch, even if an advance of it was lost`()
        async throws
    {
        let writer = try node()
        defer { writer.log.close() }
        _ = try await append(writer)
        try pair.cutOff()
        try pair.failOver()
        // As if this were a second standby, to which the first one's advance never came: it noted
        // timeline 0, is at 2, and timeline 1 had an epoch of its own.
        let promoted = database.at(pair.standby.folder)
        try promoted.asSuperuser("update urd.timeline set timeline = '00000000'")
        #expect(try await appendAgain(writer).epoch == 3)
    }

    @Test
    func `a lost tail's old primary is refused when it comes back, by every node that starts`()
        async throws
    {
        let writer = try node()
        defer { writer.log.close() }
        _ = try await append(writer)
        try pair.cutOff()
        try pair.failOver()
        #expect(try await appendAgain(writer).epoch == 2)
        // First in the address, and it takes writes.
        try pair.bringBack()
        let session = try await Session(database.at(pair.standby.folder).superuser)
        _ = try await session.number(
            """
            select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and usename = 'urd_app'
            """)
        #expect(try await appendAgain(writer).epoch == 2)
        // One that knows of nothing asks every server of its address first.
        let fresh = try node()
        defer { fresh.log.close() }
        let last = try await append(fresh)
        #expect(try await writer.log.head(of: realm) == Head(epoch: 2, position: last.last))
        let old = try await Session(database.at(pair.primary.folder).superuser)
        #expect(try await old.number("select max(position) from urd.event") == 1)
        #expect(try await old.number("select max(epoch)::bigint from urd.realm_log") == 1)
    }

    @Test func `a lost tail is remembered by a node that restarts`() async throws {
        let folder = NSTemporaryDirectory() + "servers-\(newID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let record = ServerRecord(directory: folder)
        try pair.cutOff()
        let first = try record.fence(isNode: true).connect(database.application)
        try pair.failOver()
        let second = record.fence(isNode: true)
        _ = try second.connect(database.application)
        #expect(second.current?.timeline == 2)
        #expect(try record.read() == [try #require(second.current)])
        #expect(first.history?.timeline == 1)
        try pair.bringBack()
        // Only the old primary can be reached.
        let old = database.at(pair.primary.folder).application
        for isNode in [true, false] {
            let refusal = #expect(throws: Failure.self) {
                _ = try record.fence(isNode: isNode).connect(old)
            }
            #expect(
                refusal?.description
                    == "the server is at timeline 1, and was left behind by a failover to timeline 2"
            )
        }
        let store = try TestStore(
            database.at(pair.primary.folder), master: master, fence: record.fence(isNode: true))
        defer { store.log.close() }
        #expect(await ending(store.log, commit(to: newID(), in: realm)) == .failure(.unavailable))
        await #expect(throws: LogFailure.unavailable) {
            _ = try await store.log.head(of: realm)
        }
    }

    @Test func `a commit at the server left behind is not acknowledged`() async throws {
        let writer = try node()
        defer { writer.log.close() }
        let stream = newID()
        _ = try await append(writer)
        try pair.cutOff()
        let old = try await Session(database.at(pair.primary.folder).superuser)
        try await old.holdCommits()
        let (log, realm) = (writer.log, realm)
        async let answer = ending(log, commit(to: stream, in: realm))
        try await eventually("the append waits for its commit at the old primary") {
            try await old.number(
                """
                select count(*) from pg_stat_activity where wait_event = 'SyncRep'
                    and application_name like 'urd committer%'
                """) == 1
        }
        // The old primary does not die: it is only that another one was promoted.
        try pair.promote()
        _ = try writer.pool.fence.connect(database.at(pair.standby.folder).application)
        try await old.letCommitsGo()
        #expect(await answer == .failure(.fenced))
        // It stands in the old log, and counts for nothing.
        #expect(try await old.number("select max(position) from urd.event") == 2)
        let again = try expectWon(await log.append(commit(to: stream, in: realm)))
        #expect(again == Positions(epoch: 2, first: 2, count: 1))
    }
}

extension Session {
    /// From here on commits wait, for a standby that is nowhere.
    fileprivate func holdCommits() async throws {
        try await run("alter system set synchronous_standby_names = 'nobody'")
        try await run("select pg_reload_conf()")
        // The settings come to the one that looks after standbys some time later: what commits before does not wait.
        var attempts = 0
        try await eventually("a commit waits") {
            attempts += 1
            let (other, name) = (try await Session(address), "public.held_\(attempts)")
            let held = Task { try await other.run("create table \(name) ()") }
            defer { held.cancel() }
            return try await isHeld(other, name)
        }
    }

    /// Whether the commit that makes a table waits. False: it is there.
    private func isHeld(_ other: Session, _ table: String) async throws -> Bool {
        while true {
            let waits = try await number(
                """
                select count(*) from pg_stat_activity
                where wait_event = 'SyncRep' and pid = \(other.process)
                """)
            if waits == 1 { return true }
            let made = try await number(
                "select count(*) from pg_class where oid = to_regclass('\(table)')")
            if made == 1 { return false }
        }
    }

    fileprivate func letCommitsGo() async throws {
        try await run("alter system reset synchronous_standby_names")
        try await run("select pg_reload_conf()")
    }
}
