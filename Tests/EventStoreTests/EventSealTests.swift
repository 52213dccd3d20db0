import Cryptography
import EventSourcing
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

@testable import EventStore

/// The format is fixed: other programs open case files by it.
@Suite struct `The seal of an event` {
    private static let mail: JSONObject = ["mail": "anna@example.org"]
    private let subject = SecretBytes.random(32)

    private func seal(
        realm: String = "acme", stream: UUID = UUID(high: 1, low: 2), version: Int = 3,
        type: String = "thing.done"
    ) throws -> EventSeal {
        EventSeal(
            realm: try #require(RealmID(realm)), stream: stream, version: version, type: type)
    }

    @Test func `a third party opens an event with its key alone, by HKDF and AES-GCM`() throws {
        let seal = try seal()
        let sealed = try seal.seal(Array("private".utf8), under: HKDF.prepare(subject))
        let key = seal.key(under: subject)
        let commitment = HKDF.expand(key, info: Array("urd event commitment".utf8), length: 16)
        #expect(Array(sealed.prefix(16)) == commitment.exposedCopy())
        let place = "urd sealed/acme/00000000-0000-0001-0000-000000000002/3/thing.done"
        let plain = try AESGCM.open(
            Array(sealed.dropFirst(16)),
            key: HKDF.expand(key, info: Array("urd event encryption".utf8), length: 32),
            authenticating: Array(place.utf8))
        #expect(plain == Array("private".utf8))
    }

    @Test func `every part of an event's place gives it another key`() throws {
        let places = [
            try seal(), try seal(realm: "other"), try seal(stream: UUID(high: 1, low: 3)),
            try seal(version: 4), try seal(type: "thing.undone"),
        ]
        let keys = Set(places.map { $0.key(under: subject).exposedCopy() })
        #expect(keys.count == places.count)
        let sealed = try places[0].seal([1, 2, 3], under: HKDF.prepare(subject))
        for other in places.dropFirst() {
            #expect(throws: Cryptography.Failure.self) { try other.open(sealed, under: subject) }
        }
    }

    @Test func `bytes whose key commitment is another's do not open`() throws {
        let seal = try seal()
        let sealed = try seal.seal([1, 2, 3], under: HKDF.prepare(subject))
        #expect(try seal.open(sealed, under: subject) == [1, 2, 3])
        for index in 0..<EventSeal.commitmentLength {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: Cryptography.Failure.self) { try seal.open(changed, under: subject) }
        }
        // The ciphertext is sound under the event's key: only the commitment is missing.
        let uncommitted = Array(sealed.dropFirst(EventSeal.commitmentLength))
        #expect(throws: Cryptography.Failure.self) { try seal.open(uncommitted, under: subject) }
    }

    @Test func `the log opens events of before and after, and a key of its own opens each`()
        async throws
    {
        let store = try TestStore()
        defer { store.log.close() }
        let (realm, person) = (newRealm(), newID())
        for version in 0..<2 {
            try expectWon(
                await store.log.append(
                    commit(
                        to: person, at: version, in: realm, personal: Self.mail, subject: person)))
        }
        let key = try await secret(of: person, in: realm, store)
        // As releases before sealed it: under the subject's key itself.
        let events = try await store.log.stream(person, after: 0, in: realm)
        let old = try AESGCM.seal(
            JSON.object(Self.mail).canonical(), key: key,
            authenticating: Array("urd sealed/\(realm)/\(person)/1/\(events[0].name)".utf8))
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            update urd.event set sealed = '\\x\(Hex.encode(old))'
                where realm = '\(realm)' and stream = '\(person)' and version = 1;
            commit
            """)
        let opened = try await store.log.stream(person, after: 0, in: realm)
        #expect(opened.map(\.personal) == [.opened(Self.mail), .opened(Self.mail)])
        // What is written now is not under the subject's key itself: without the commitment, which
        // would have it taken for an old event, it does not open.
        try store.database.asSuperuser(
            """
            begin;
            set local session_replication_role = replica;
            update urd.event set sealed = substr(sealed, 17)
                where realm = '\(realm)' and stream = '\(person)' and version = 2;
            commit
            """)
        let cut = try await store.log.stream(person, after: 0, in: realm)
        #expect(cut.map(\.personal) == [.opened(Self.mail), .unreadable])
    }

    private func secret(
        of subject: UUID, in realm: RealmID, _ store: TestStore
    ) async throws -> SecretBytes {
        let found = try await store.pool.run { connection throws(Postgres.Failure) in
            try KeyTable.find([subject], realm, on: connection)[subject]
        }
        guard case .held(_, let version, let wrapped)? = found else {
            throw LogFailure.keyMissing
        }
        let keys = try await store.keyring.keys(of: realm)
        return try #require(
            store.keyring.open(wrapped, by: version, of: subject, in: realm, keys))
    }
}
