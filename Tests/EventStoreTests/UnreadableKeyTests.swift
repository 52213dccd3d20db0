import EventSourcing
import EventStore
import PostgresTesting
import Testing

@Suite struct `Rows of keys that cannot be read` {
    @Test func `each row of a key is judged by itself, whatever the others lack`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realms = (0..<4).map { _ in newRealm() }.sorted()
        for realm in realms {
            try expectWon(try await store.log.append(commit(to: newID(), in: realm)))
        }
        #expect(try await store.keyring.unreadableKeys().isEmpty)
        let session = try await Session(store.database.superuser)
        try await session.run(
            """
            alter table urd.realm_key alter wrapped drop not null, alter id drop not null;
            update urd.realm_key set wrapped = '\\x00' where realm = '\(realms[0])' and purpose = 'sign';
            update urd.realm_key set wrapped = null where realm = '\(realms[1])' and purpose = 'mac';
            update urd.realm_key set id = null where realm = '\(realms[2])' and purpose = 'wrap'
            """)
        #expect(
            try await store.keyring.unreadableKeys() == [
                .init(realm: realms[0].name, purpose: "sign", version: 1),
                .init(realm: realms[1].name, purpose: "mac", version: 1),
                .init(realm: realms[2].name, purpose: "wrap", version: 1),
            ])
        // Another master key's rows are another matter.
        try await session.run(
            "update urd.realm_key set master = '\\x00' where realm = '\(realms[0])'")
        #expect(
            try await store.keyring.unreadableKeys().map(\.realm).contains(realms[0].name) == false)
    }
}
