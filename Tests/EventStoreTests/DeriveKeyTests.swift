import EventSourcing
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import EventStore

/// The key that secrets are derived from can be replaced: the old one is accepted until it is retired, and
/// names never change.
@Suite struct `A realm's derive key` {
    private let realm = newRealm()
    private let id: [UInt8] = [1, 2, 3]

    private func secrets(_ node: TestStore) async throws -> [[UInt8]] {
        let keys = try await node.keyring.keys(of: realm)
        return (0..<keys.deriveVersions).map { keys.derive("token", id, version: $0) }
    }

    private func name(_ node: TestStore) async throws -> [UInt8] {
        try await node.keyring.keys(of: realm).deriveName("mailbox", id)
    }

    /// Two nodes that know the realm and its keys.
    private func nodes(_ cluster: TestCluster = .shared) async throws -> (TestStore, TestStore) {
        let here = try TestStore(cluster)
        let there = try TestStore(here.database, master: here.master)
        try expectWon(await here.log.append(commit(to: newID(), in: realm)))
        for node in [here, there] { await node.log.pollHeads() }
        #expect(try await secrets(here) == secrets(there))
        return (here, there)
    }

    private func close(_ nodes: TestStore...) {
        for node in nodes { node.log.close() }
    }

    @Test func `a derive key is accepted beside the new one until it is retired, and names stay`()
        async throws
    {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        let (old, name) = (try await secrets(here), try await name(here))
        #expect(try await here.keyring.announceDeriveKey(of: realm) == .announced)
        let announced = try await secrets(here)
        #expect(announced.count == 2 && announced[0] == old[0])
        #expect(try await here.keyring.adoptDeriveKey(of: realm))
        #expect(try await secrets(here) == announced.reversed())
        #expect(try await self.name(here) == name)
        #expect(try await here.keyring.retireDeriveKeys(of: realm) == 1)
        #expect(try await secrets(here) == [announced[1]])
        #expect(try await self.name(here) == name)
        let fresh = try TestStore(here.database, master: here.master)
        defer { close(fresh) }
        #expect(try await secrets(fresh) == [announced[1]])
        #expect(try await self.name(fresh) == name)
    }

    @Test func `a derive key's steps reach a read-only node within a poll`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        let old = try await secrets(there)
        _ = try await here.keyring.announceDeriveKey(of: realm)
        #expect(try await secrets(there) == old)
        await there.log.pollHeads()
        let announced = try await secrets(there)
        #expect(try await secrets(here) == announced)
        #expect(announced.count == 2 && announced[0] == old[0])

        // The other node makes secrets under the new key at once: this one accepts them already.
        _ = try await here.keyring.adoptDeriveKey(of: realm)
        #expect(try await secrets(there) == announced)
        #expect(try await secrets(there).contains(try await secrets(here)[0]))
        await there.log.pollHeads()
        #expect(try await secrets(there) == announced.reversed())

        _ = try await here.keyring.retireDeriveKeys(of: realm)
        await there.log.pollHeads()
        #expect(try await secrets(there) == [announced[1]])
    }

    @Test func `a derive key is announced once by two simultaneous rotations, and used once`()
        async throws
    {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        async let first = here.keyring.announceDeriveKey(of: realm)
        async let second = there.keyring.announceDeriveKey(of: realm)
        let outcomes = try await [first, second]
        #expect(outcomes.contains(.announced) && outcomes.contains(.waiting))
        async let third = here.keyring.adoptDeriveKey(of: realm)
        async let fourth = there.keyring.adoptDeriveKey(of: realm)
        #expect(try await Set([third, fourth]) == [true, false])
        #expect(try await secrets(here).count == 2)
    }

    @Test func `a derive key has a bounded number of versions at once`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        for _ in 1..<Keyring.mostDeriveKeys {
            #expect(try await here.keyring.announceDeriveKey(of: realm) == .announced)
            _ = try await here.keyring.adoptDeriveKey(of: realm)
        }
        #expect(try await here.keyring.announceDeriveKey(of: realm) == .full)
        #expect(try await here.keyring.retireDeriveKeys(of: realm) == Keyring.mostDeriveKeys - 1)
        #expect(try await here.keyring.retireDeriveKeys(of: realm) == 0)
        #expect(try await here.keyring.announceDeriveKey(of: realm) == .announced)
        // What is announced is not retired by those that are in use, nor they by it.
        #expect(try await here.keyring.retireDeriveKeys(of: realm) == 0)
        #expect(try await secrets(here).count == 2)
    }

    /// As the migration finds every realm that there is.
    @Test func `a derive key gives the names from before there was a key for names`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        try here.database.asSuperuser(
            "delete from urd.realm_key where realm = '\(realm)' and purpose = 'name'")
        let migrated = try TestStore(here.database, master: here.master)
        defer { close(migrated) }
        let keys = try await migrated.keyring.keys(of: realm)
        let old = keys.derive("mailbox", id)
        #expect(keys.deriveName("mailbox", id) == old)
        _ = try await migrated.keyring.announceDeriveKey(of: realm)
        #expect(try await name(migrated) == old)
        _ = try await migrated.keyring.adoptDeriveKey(of: realm)
        _ = try await migrated.keyring.retireDeriveKeys(of: realm)
        let fresh = try TestStore(here.database, master: here.master)
        defer { close(fresh) }
        for node in [migrated, fresh] {
            #expect(try await name(node) == old)
            #expect(try await node.keyring.keys(of: realm).derive("mailbox", id) != old)
        }
    }

    @Test func `a derive key of a new realm does not derive its names`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        let keys = try await here.keyring.keys(of: realm)
        #expect(keys.deriveName("mailbox", id) != keys.derive("mailbox", id))
    }

    @Test func `a derive key's versions are all rewrapped with the master key`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        _ = try await here.keyring.announceDeriveKey(of: realm)
        _ = try await here.keyring.adoptDeriveKey(of: realm)
        let (secrets, name) = (try await secrets(here), try await name(here))
        let master = MasterKey.generate()
        let rotating = Keyring(here.pool, master: master, previous: [here.master])
        #expect(try await rotating.rotateMaster() > 0)
        let fresh = try TestStore(here.database, master: master)
        defer { close(fresh) }
        #expect(try await self.secrets(fresh) == secrets)
        #expect(try await self.name(fresh) == name)
        #expect(try await fresh.keyring.retireDeriveKeys(of: realm) == 1)
    }

    @Test func `a derive key is replaced before and after other rotations, and after erasures`()
        async throws
    {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        let (kept, erased) = (newID(), newID())
        for person in [kept, erased] {
            try expectWon(
                await here.log.append(
                    commit(
                        to: person, in: realm, personal: ["mail": "a@example.org"],
                        subject: person)))
        }
        _ = try await here.keyring.rotate(realm)
        _ = try await here.keyring.announceDeriveKey(of: realm)
        _ = try await here.keyring.rotate(realm)
        _ = try await here.keyring.adoptDeriveKey(of: realm)
        try await there.keyring.destroyKey(of: erased, in: realm)
        _ = try await there.keyring.rotate(realm)
        _ = try await there.keyring.retireDeriveKeys(of: realm)
        try expectWon(await there.log.append(commit(to: newID(), in: realm)))
        let fresh = try TestStore(here.database, master: here.master)
        defer { close(fresh) }
        #expect(
            try await fresh.log.stream(kept, after: 0, in: realm).map(\.personal)
                == [.opened(["mail": "a@example.org"])])
        #expect(
            try await fresh.log.stream(erased, after: 0, in: realm).map(\.personal) == [.erased])
        #expect(
            try await LogVerifier(fresh.pool, keyring: fresh.keyring, directory: nil).verify(realm)
                .isIntact)
    }

    @Test(arguments: ["on", "off"])
    func `a derive key's replacement survives a crash after each step`(commits: String) async throws
    {
        let cluster = try TestCluster(settings: [
            "wal_writer_delay=10s", "synchronous_commit=\(commits)", "restart_after_crash=on",
        ])
        let (here, there) = try await nodes(cluster)
        defer { close(here, there) }
        let name = try await name(here)
        func crash() async throws {
            try await offPool { try cluster.stop(immediate: true) }
            try await offPool { try cluster.start() }
        }
        func again() throws -> TestStore { try TestStore(here.database, master: here.master) }

        _ = try await here.keyring.announceDeriveKey(of: realm)
        let announced = try await secrets(here)
        try await crash()
        let second = try again()
        #expect(try await secrets(second) == announced)
        #expect(try await second.keyring.announceDeriveKey(of: realm) == .waiting)
        #expect(try await second.keyring.adoptDeriveKey(of: realm))
        try await crash()
        let third = try again()
        #expect(try await secrets(third) == announced.reversed())
        #expect(try await third.keyring.retireDeriveKeys(of: realm) == 1)
        try await crash()
        let fourth = try again()
        #expect(try await secrets(fourth) == [announced[1]])
        #expect(try await self.name(fourth) == name)
        close(second, third, fourth)
    }

    /// As a failover leaves it that nobody has heard of.
    @Test func `a derive key that the database has lost is used no more`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        let old = try await secrets(here)
        _ = try await here.keyring.announceDeriveKey(of: realm)
        _ = try await here.keyring.adoptDeriveKey(of: realm)
        #expect(try await secrets(here).count == 2)
        try here.database.asSuperuser(
            """
            delete from urd.realm_key
            where realm = '\(realm)' and purpose in ('derive', 'mac') and version = 2
            """)
        try expectWon(await here.log.append(commit(to: newID(), in: realm)))
        #expect(try await secrets(here) == old)
    }

    @Test func `a derive key's retirement is known to have waited`() async throws {
        let (here, there) = try await nodes()
        defer { close(here, there) }
        func days() async throws -> Int? {
            try await here.keyring.deriveKeyOverlaps().first { $0.realm == realm }?.days
        }
        #expect(try await days() == nil)
        _ = try await here.keyring.announceDeriveKey(of: realm)
        _ = try await here.keyring.adoptDeriveKey(of: realm)
        #expect(try await days() == 0)
        try here.database.asSuperuser(
            """
            update urd.realm_key set created_at = created_at - interval '91 days'
            where realm = '\(realm)'
            """)
        #expect(try await days() == 91)
        _ = try await here.keyring.retireDeriveKeys(of: realm)
        #expect(try await days() == nil)
    }
}
