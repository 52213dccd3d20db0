import EventSourcing
import EventStore
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@Suite struct `What each role may do to the log` {
    private static let tables = ["realm_log", "stream", "event", "claim", "command", "epoch"]

    /// A database with something in every table of the log.
    private func filled() async throws -> TestStore {
        let store = try TestStore()
        let stream = newID()
        try expectWon(
            await store.log.append(
                commit(
                    to: stream, in: newRealm(), claims: [.take(Claim("slot", "1"), for: stream)],
                    personal: ["mail": "a@example.org"], subject: stream)))
        return store
    }

    /// What the server answers to a statement: its code, or nothing where it obeys.
    private func answer(_ address: String, _ sql: String) throws -> String? {
        do throws(Failure) {
            try Connection(address).run(sql)
            return nil
        } catch {
            return error.code
        }
    }

    private static let notAllowed = "42501"

    @Test(arguments: tables)
    func `the application's role reads, and writes through append alone`(table: String) async throws
    {
        let store = try await filled()
        defer { store.log.close() }
        let application = store.database.application
        let column = table == "realm_log" ? "position" : table == "claim" ? "kind" : "realm"
        #expect(try answer(application, "select 1 from urd.\(table) where realm = 'a'") == nil)
        for sql in [
            "insert into urd.\(table) select * from urd.\(table)",
            "update urd.\(table) set \(column) = \(column)",
            "delete from urd.\(table)",
            "truncate urd.\(table)",
            "alter table urd.\(table) disable trigger all",
            "drop table urd.\(table)",
        ] {
            #expect(try answer(application, sql) == Self.notAllowed, "\(sql)")
        }
    }

    @Test func `only the application and the owner lock what leases and seals hang on`()
        async throws
    {
        let store = try await filled()
        defer { store.log.close() }
        for table in ["lease", "seal", "lock_row"] {
            let locking = "begin; select from urd.\(table) for update; rollback"
            #expect(try answer(store.database.application, locking) == nil, "\(table)")
            for strength in ["update", "no key update", "share", "key share"] {
                let sql = "select from urd.\(table) for \(strength)"
                #expect(try answer(store.database.observer, sql) == Self.notAllowed, "\(sql)")
            }
        }
        for role in [store.database.application, store.database.observer] {
            #expect(
                try answer(role, "select urd.take_session_lock('projection sessions')")
                    == Self.notAllowed)
        }
    }

    @Test func `the application's role moves no epoch and changes no function`() async throws {
        let store = try await filled()
        defer { store.log.close() }
        for sql in [
            "select urd.advance_epoch('a')",
            "update urd.timeline set timeline = 'x'",
            "select urd.judge('a', 1, '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
            "create or replace function urd.refuse_change() returns trigger language plpgsql as "
                + "$$ begin return null; end $$",
            "create table urd.mine ()",
            "set session_replication_role = replica",
        ] {
            #expect(try answer(store.database.application, sql) == Self.notAllowed, "\(sql)")
        }
    }

    @Test func `the observer's role reads neither events nor secrets, and writes nothing`()
        async throws
    {
        let store = try await filled()
        defer { store.log.close() }
        let observer = store.database.observer
        for table in ["realm_log", "stream"] {
            #expect(try answer(observer, "select 1 from urd.\(table) where realm = 'a'") == nil)
        }
        for table in ["event", "realm_key", "subject_key", "claim", "command"] {
            #expect(try answer(observer, "select 1 from urd.\(table)") == Self.notAllowed)
        }
        for table in Self.tables {
            for sql in ["delete from urd.\(table)", "truncate urd.\(table)"] {
                #expect(try answer(observer, sql) == Self.notAllowed, "\(sql)")
            }
        }
        let append = rawAppend(to: newID(), in: newRealm())
        #expect(try answer(observer, append) == Self.notAllowed)
        #expect(try answer(observer, "select urd.forget_commands('a')") == Self.notAllowed)
    }

    @Test(arguments: [
        "update urd.event set type = 'x'", "delete from urd.event", "truncate urd.event",
        "update urd.event set sealed = null where false",
    ])
    func `triggers refuse changes of events, also by the owner and the superuser`(
        sql: String
    ) async throws {
        let store = try await filled()
        defer { store.log.close() }
        #expect(try answer(store.database.owner, sql) == "UR002")
        #expect(try answer(store.database.superuser, sql) == "UR002")
        #expect(try answer(store.database.application, sql) == Self.notAllowed)
    }
}
