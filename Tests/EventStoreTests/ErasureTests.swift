import EventSourcing
import Foundation
import JSON
import PostgresTesting
import Synchronization
import Telemetry
import Testing
import Values

@testable import EventStore

@Suite struct `Erasing a subject` {
    private final class Lines: Sendable {
        let text = Mutex("")

        var log: Log {
            Log(
                threshold: .debug,
                sink: Log.Sink { [self] line, _ in
                    text.withLock { $0 += String(decoding: line, as: UTF8.self) }
                })
        }
    }

    /// A value that stands nowhere else in the world.
    private let canary = "canary-\(newID())@example.org"

    private func personal(_ subject: UUID, _ realm: RealmID, at version: Int) -> Commit {
        var personal = commit(
            to: subject, at: version, in: realm, personal: ["mail": .string(canary)],
            subject: subject)
        personal.origin.address = canary
        personal.origin.userAgent = canary
        if version == 0 { personal.claims = [.take(Claim("mail", canary), for: subject)] }
        return personal
    }

    @Test func `an erased subject leaves its personal data nowhere, readable to nobody`()
        async throws
    {
        // The server writes down everything that it hears.
        let cluster = try TestCluster(settings: ["log_statement=all", "log_min_messages=debug1"])
        let database = try cluster.makeDatabase()
        let lines = Lines()
        let store = try TestStore(database, master: .generate(), log: lines.log)
        defer { store.log.close() }
        let realm = newRealm()
        let (subject, bystander) = (newID(), newID())
        for version in 0...1 {
            try expectWon(await store.log.append(personal(subject, realm, at: version)))
        }
        try expectWon(
            await store.log.append(
                commit(
                    to: bystander, in: realm, personal: ["mail": "bystander"], subject: bystander)))
        // Both of these must have been readable, or the search proves nothing.
        let before = try await store.log.stream(subject, after: 0, in: realm)
        #expect(before.count == 2)
        for event in before {
            guard case .opened(let fields) = event.personal else {
                Issue.record("Not opened: \(event)")
                continue
            }
            #expect(fields["mail"]?.string == canary && fields["$address"]?.string == canary)
        }
        try await provokeLogLines(store, realm)

        try await store.keyring.destroyKey(of: subject, in: realm)

        try await expectErased(store, realm, subject)
        let other = try TestStore(database, master: store.master)
        defer { other.log.close() }
        try await expectErased(other, realm, subject)
        let untouched = try await other.log.stream(bystander, after: 0, in: realm)
        #expect(untouched.map(\.personal) == [.opened(["mail": "bystander"])])

        // A late event of the erased subject carries nothing either, on whichever node.
        for (number, node) in [store, other].enumerated() {
            try expectWon(await node.log.append(personal(subject, realm, at: 2 + number)))
        }
        for event in try await store.log.stream(subject, after: 2, in: realm) {
            if case .opened = event.personal { Issue.record("Opened: \(event)") }
        }
        try await expectNowhere(store, cluster)
        #expect(!lines.text.withLock { $0 }.contains(canary))
        #expect(lines.text.withLock { $0 }.contains("commit."))
        #expect(!store.metrics.render().contains(canary))
    }

    @Test func `a commit for many subjects seals for each of them, and nothing for the erased one`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, subjects) = (newRealm(), (0..<20).map { _ in newID() })
        try expectWon(await store.log.append(personal(subjects[0], realm, at: 0)))
        try await store.keyring.destroyKey(of: subjects[0], in: realm)
        var all = commit(to: newID(), in: realm)
        all.reads = [:]
        all.events = subjects.map { subject in
            let stream = newID()
            all.reads[stream] = 0
            return NewEvent(
                stream: stream, name: "thing.done", revision: 1, subject: subject, open: [:],
                personal: ["mail": .string("\(subject)")])
        }
        try expectWon(await store.log.append(all))
        let other = try TestStore(store.database, master: store.master)
        defer { other.log.close() }
        for (event, subject) in zip(all.events, subjects) {
            let read = try await other.log.stream(event.stream, after: 0, in: realm)
            let sealed: Recorded.Personal =
                subject == subjects[0] ? .none : .opened(["mail": .string("\(subject)")])
            #expect(read.map(\.personal) == [sealed])
        }
    }

    @Test func `an erased subject is told from shared events and from subjects that never were`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, subject) = (newRealm(), newID())
        func standing(_ realm: RealmID) async throws -> SubjectStanding {
            try await store.keyring.standing(of: subject, in: realm)
        }
        #expect(try await standing(realm) == .unknown)
        try expectWon(await store.log.append(personal(subject, realm, at: 0)))
        #expect(try await standing(realm) == .own)
        try await store.keyring.destroyKey(of: subject, in: realm)
        #expect(try await standing(realm) == .own)
        #expect(try await standing(newRealm()) == .unknown)
        let thing = newID()
        var nobodys = commit(to: thing, in: realm)
        nobodys.origin.address = "203.0.113.7"
        try expectWon(await store.log.append(nobodys))
        let told = try await store.log.stream(thing, after: 0, in: realm)
        let shared = try #require(told.first?.subject)
        #expect(try await store.keyring.standing(of: shared, in: realm) == .shared)
    }

    @Test func `each erasure is counted beside the log, with the key or not at all`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, subject) = (newRealm(), newID())
        let session = try await Session(store.database.superuser)
        func count() async throws -> Int64 {
            try await session.number("select erasures from urd.realm_log where realm = '\(realm)'")
        }
        try expectWon(await store.log.append(personal(subject, realm, at: 0)))
        #expect(try await count() == 0)
        try await store.keyring.destroyKey(of: subject, in: realm)
        #expect(try await count() == 1)
        try await session.run(
            "alter table urd.subject_key add constraint none check (wrapped is not null) not valid")
        let other = newID()
        try expectWon(
            await store.log.append(
                commit(to: other, in: realm, personal: ["mail": "other"], subject: other)))
        await #expect(throws: LogFailure.self) {
            try await store.keyring.destroyKey(of: other, in: realm)
        }
        #expect(try await count() == 1)
    }

    private func expectErased(_ node: TestStore, _ realm: RealmID, _ subject: UUID) async throws {
        let after = try await node.log.stream(subject, after: 0, in: realm)
        #expect(after.map(\.personal) == [.erased, .erased])
        #expect(after.allSatisfy { $0.subject == subject })
    }

    /// Refusals and broken connections, with the canary in everything that is refused.
    private func provokeLogLines(_ store: TestStore, _ realm: RealmID) async throws {
        var early = personal(newID(), realm, at: 0)
        early.claims = []
        early.origin.at = Timestamp(microseconds: .min / 4)
        #expect(await ending(store.log, early) == .failure(.refused))
        let taken = personal(newID(), realm, at: 0)
        #expect(await ending(store.log, taken) == .success(.taken(kind: "mail")))
        let session = try await Session(store.database.superuser)
        try await session.breakCommitters()
        try expectWon(await store.log.append(commit(to: newID(), in: realm)))
    }

    /// Not in any column, not in a dump, not in any file of the server, its log included.
    private func expectNowhere(_ store: TestStore, _ cluster: TestCluster) async throws {
        let session = try await Session(store.database.superuser)
        let columns = try await session.texts(
            """
            select format('%I.%I %I', table_schema, table_name, column_name)
            from information_schema.columns where table_schema = 'urd'
            """)
        #expect(columns.count > 40)
        for column in columns {
            let parts = column.split(separator: " ")
            let found = try await session.number(
                """
                select count(*) from \(parts[0]) where \(parts[1])::text like '%\(canary)%'
                    or \(parts[1])::text like '%\(Hex.encode(Array(canary.utf8)))%'
                """)
            #expect(found == 0, "\(column)")
        }
        let keys = try await session.texts("select encode(key, 'hex') from urd.claim")
        #expect(keys.count == 1 && keys[0].count == 64)
        // Not a plain digest either, which anybody could compare with a list of addresses.
        let digests = try await session.texts(
            "select encode(sha256(convert_to(v, 'UTF8')), 'hex') from (values ('\(canary)'), "
                + "('mail\(canary)'), ('mail ' || '\(canary)')) as t (v)")
        #expect(!digests.contains(keys[0]))

        let dump = "\(cluster.folder)/dump.sql"
        try await offPool { [canary] in
            #expect(
                Program.run("pg_dump", "--file=\(dump)", "--dbname=\(store.database.superuser)"))
            #expect(Program.run("grep", "-q", "COPY urd.event", dump))
            let hexadecimal = Hex.encode(Array(canary.utf8))
            // The statements of this very test name the canary: they are taken out of the log.
            #expect(
                Program.run(
                    "sed", "-i", "/information_schema\\|like '%\\|values ('/d",
                    "\(cluster.folder)/log"))
            for needle in [canary, hexadecimal] {
                #expect(!Program.run("grep", "-rqaF", needle, cluster.folder), "\(needle)")
            }
        }
    }
}
