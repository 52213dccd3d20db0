import EventSourcing
import EventStore
import JSON
import Postgres
import PostgresTesting
import Testing
import Values

/// Rotation gives the same personal data other keys. What it must never do is lose them.
@Suite struct `Rotating a realm's keys` {
    private let realm: RealmID
    private let contact = "canary@person.example"

    init() throws {
        realm = try #require(RealmID("acme"))
    }

    @Test func `rotating a realm's keys keeps sealed data readable on all nodes`() async throws {
        let (here, other) = try nodes()
        let before = try await register(on: here)
        // Both have the keys in mind that are about to go.
        #expect(try await contact(of: before, on: other) == contact)
        #expect(try await here.keyring.rotate(realm) == 1)
        #expect(try await contact(of: before, on: here) == contact)
        #expect(try await contact(of: before, on: other) == contact)
        let after = try await register(on: other)
        #expect(try await contact(of: after, on: here) == contact)
    }

    @Test func `rotating a realm's keys on two nodes at once loses nothing`() async throws {
        let (here, other) = try nodes()
        var clients: [UUID] = []
        for _ in 0..<20 { clients.append(try await register(on: here)) }
        #expect(try await contact(of: clients[0], on: other) == contact)
        for _ in 0..<3 {
            async let first = here.keyring.rotate(realm)
            async let second = other.keyring.rotate(realm)
            #expect(try await [first, second] == [20, 20])
        }
        let fresh = try TestStore(here.database, master: here.master)
        for client in clients {
            #expect(try await contact(of: client, on: fresh) == contact)
        }
    }

    @Test func `rotating a realm's keys while others write loses nothing`() async throws {
        let (here, other) = try nodes()
        let clients = try await withThrowingTaskGroup(of: [UUID].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var mine: [UUID] = []
                    for _ in 0..<20 { mine.append(try await register(on: other)) }
                    return mine
                }
            }
            for _ in 0..<10 { _ = try await here.keyring.rotate(realm) }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let fresh = try TestStore(here.database, master: here.master)
        for client in clients {
            #expect(try await contact(of: client, on: fresh) == contact)
        }
    }

    @Test func `rotating a realm's keys leaves erased data erased`() async throws {
        let (here, other) = try nodes()
        let client = try await register(on: here)
        try await here.keyring.destroyKey(of: client, in: realm)
        #expect(try await here.keyring.rotate(realm) == 0)
        #expect(try await contact(of: client, on: other) == nil)
    }

    @Test func `rotating a realm's keys and the master key in turn loses nothing`() async throws {
        let (here, _) = try nodes()
        let client = try await register(on: here)
        _ = try await here.keyring.rotate(realm)
        let master = MasterKey.generate()
        let rotating = Keyring(here.pool, master: master, previous: [here.master])
        #expect(try await rotating.rotateMaster() > 0)
        #expect(try await rotating.rotateMaster() == 0)
        let fresh = try TestStore(here.database, master: master)
        #expect(try await contact(of: client, on: fresh) == contact)
        _ = try await fresh.keyring.rotate(realm)
        #expect(try await contact(of: client, on: fresh) == contact)
    }

    private func nodes() throws -> (TestStore, TestStore) {
        let here = try TestStore()
        return (here, try TestStore(here.database, master: here.master))
    }

    /// An event with a contact in it, sealed under a key of its own. Tried again where a rotation
    /// came between, as a caller would.
    private func register(on node: TestStore) async throws -> UUID {
        var random = SystemRandomNumberGenerator()
        let client = UUID.v7(at: Timestamp(microseconds: 1), using: &random)
        let event = NewEvent(
            stream: client, name: "thing.happened", revision: 1, subject: client, open: [:],
            personal: ["contact": .string(contact)])
        let commit = Commit(
            realm: realm, command: UUID.v7(at: Timestamp(microseconds: 2), using: &random),
            origin: Origin(actor: "admin:tester", at: Timestamp(microseconds: 5)),
            reads: [client: 0], events: [event])
        while true {
            do throws(LogFailure) {
                _ = try await node.log.append(commit)
                return client
            } catch {
                guard case .contended = error else { throw error }
            }
        }
    }

    private func contact(of client: UUID, on node: TestStore) async throws -> String? {
        let events = try await node.log.stream(client, after: 0, in: realm)
        guard case .opened(let fields)? = events.first?.personal else { return nil }
        return fields["contact"]?.string
    }
}
