import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let accounts = "/api/admin/realms/acme/accounts"

@Suite struct `The deletion of an account over HTTP` {
    @Test func `a scheduled deletion locks the account until it is cancelled`() async throws {
        let world = try await World()
        let path = "\(accounts)/\(try #require(world.names["account_id"]))"
        let deleted = try await world.send(.delete, path)
        let due = try #require(
            deleted.json["deletion_due"]?.string.flatMap { Timestamp(rfc3339: $0) })
        let scheduled = try #require(try await world.events().last)
        #expect(scheduled.name == "account.deletion_scheduled")
        #expect(due.seconds - scheduled.at.seconds == 30 * 86_400)
        #expect(try await world.send(.get, path + "/sessions").json["items"] == [])
        #expect(try await world.send(.get, path).json["deletion_due"] == .string(due.description))
        let kept = try await world.send(.post, path + "/cancel-deletion")
        #expect(kept.json["deletion_due"] == .null)
        #expect(world.destroyed.all.isEmpty)
    }

    @Test func `a scheduled deletion has the grace period of the realm`() async throws {
        let world = try await World()
        _ = try await world.send(
            .patch, "/api/admin/realms/acme/settings", body: ["account_deletion_grace": 0])
        let id = try await world.person("ada@example.org")
        let deleted = try await world.send(.delete, "\(accounts)/\(id)")
        let due = try #require(
            deleted.json["deletion_due"]?.string.flatMap { Timestamp(rfc3339: $0) })
        #expect(due.seconds == (try await world.events().last?.at.seconds))
    }
}

@Suite struct `Erasing an account` {
    private func erasure(_ world: World) -> AccountErasure {
        AccountErasure(
            commands: Dispatcher(log: world.log), queries: MemoryQueries(log: world.log),
            destroyKey: { _, subject throws(LogFailure) in try world.destroyed.add(subject) },
            newID: { UUID.random() })
    }

    private func carryOut(_ world: World, _ id: UUID) async throws -> AccountErasure.Outcome {
        try await erasure(world).dispatch(
            id, in: try #require(RealmID("acme")),
            by: Origin(actor: "system", at: Timestamp(seconds: 1_900_000_000)))
    }

    @Test
    func `erasing an account destroys its key and its mailbox's key, and tells the positions`()
        async throws
    {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let mailbox = try #require(
            try await world.send(.get, "\(accounts)/\(id)").json["mailbox"]?.string)
        let answer = try await world.send(.post, "\(accounts)/\(id)/erase")
        #expect(answer.status == .ok)
        #expect(world.destroyed.all == [id, try #require(UUID(mailbox))])
        let last = try #require(try await world.events().last)
        #expect(last.name == "account.erased")
        #expect(last.stream == id)
        #expect(answer.json["position"] == .integer(last.position))
        #expect(answer.response.headers["Urd-Position"] == "acme:1:\(last.position)")
        #expect(try await world.send(.get, "\(accounts)/\(id)").problem == .noSuchAccount)
        let again = try await world.send(.post, "\(accounts)/\(id)/erase")
        #expect(again.problem == .noSuchAccount)
    }

    @Test func `erasing an account releases its passkeys`() async throws {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let passkey = UUID.random()
        let key = CredentialRecord(
            id: [1, 2, 3], publicKey: [4], counter: 0, isBackupEligible: false,
            isBackedUp: false, isUserVerified: true, model: .zero, transports: [],
            format: "none", attestation: "none", isTrusted: false)
        try await world.happen(
            Passkey.self,
            .enrolled(
                EnrolledPasskey(
                    account: id, client: .zero, relyingParty: "acme.example", key: key,
                    enrolledAt: Timestamp(seconds: 1_795_000_000), mail: UUID.random())),
            in: passkey)
        world.destroyed.fail(1)
        _ = try await world.send(.post, "\(accounts)/\(id)/erase", idempotencyKey: "e")
        let answer = try await world.send(.post, "\(accounts)/\(id)/erase", idempotencyKey: "e")
        #expect(answer.status == .ok)
        let removed = try await world.events().filter { $0.name == "passkey.removed" }
        #expect(removed.map(\.stream) == [passkey], "Once.")
        #expect(removed.first?.open["mail"] == nil)
    }

    @Test func `erasing an account frees its address for another account under another key`()
        async throws
    {
        let world = try await World()
        let first = try await world.person("ada@example.org")
        #expect(try await world.send(.post, "\(accounts)/\(first)/erase").status == .ok)
        let second = try await world.person("ada@example.org")
        #expect(second != first)
        #expect(try await world.send(.post, "\(accounts)/\(second)/erase").status == .ok)
        #expect(Set(world.destroyed.all).count == 4, "\(world.destroyed.all)")
    }

    @Test func `erasing an account erases its former mailboxes too`() async throws {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        let left = try await world.send(.get, "\(accounts)/\(id)").json["mailbox"]?.string
        _ = try await world.send(
            .patch, "\(accounts)/\(id)", body: ["email": "ada@new.example"])
        #expect(try await world.send(.post, "\(accounts)/\(id)/erase").status == .ok)
        #expect(world.destroyed.all.count == 3)
        #expect(world.destroyed.all.map(\.description).contains(left ?? ""))
    }

    @Test func `erasing an account that was interrupted is completed by the next run`() async throws
    {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        for failures in 1...2 {
            world.destroyed.fail(1)
            let broken = try await world.send(
                .post, "\(accounts)/\(id)/erase", idempotencyKey: "erase")
            #expect(broken.problem == .unavailable, "\(failures)")
            #expect(try await !world.events().contains { $0.name == "account.erased" })
        }
        guard case .erased(_, isNew: true) = try await carryOut(world, id) else {
            Issue.record("It was not finished.")
            return
        }
        guard case .erased(let position, isNew: false) = try await carryOut(world, id) else {
            Issue.record("It was done twice.")
            return
        }
        let answer = try await world.send(
            .post, "\(accounts)/\(id)/erase", idempotencyKey: "erase")
        #expect(answer.json["position"] == .integer(position))
        let names = try await world.events().map(\.name)
        #expect(names.filter { $0 == "account.deleted" }.count == 1)
        #expect(names.filter { $0 == "account.erased" }.count == 1)
    }

    @Test func `erasing an account fifty times at once happens once`() async throws {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        try await withThrowingTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    if number % 2 == 0 {
                        _ = try await world.send(.post, "\(accounts)/\(id)/erase")
                    } else {
                        _ = try? await carryOut(world, id)
                    }
                }
            }
            try await group.waitForAll()
        }
        let names = try await world.events().map(\.name)
        #expect(names.filter { $0 == "account.deleted" }.count == 1)
        #expect(names.filter { $0 == "account.erased" }.count == 1)
        #expect(Set(world.destroyed.all).count == 2)
    }

    @Test func `erasing an account waits until it is due, and does not happen once cancelled`()
        async throws
    {
        let world = try await World()
        let id = try await world.person("ada@example.org")
        #expect(try await carryOut(world, id) == .notDue)
        _ = try await world.send(.delete, "\(accounts)/\(id)")
        _ = try await world.send(.post, "\(accounts)/\(id)/cancel-deletion")
        #expect(try await carryOut(world, id) == .notDue)
        #expect(try await carryOut(world, UUID.random()) == .unknown)
        #expect(world.destroyed.all.isEmpty)
        _ = try await world.send(.delete, "\(accounts)/\(id)")
        guard case .erased = try await carryOut(world, id) else {
            Issue.record("It was due.")
            return
        }
    }

    @Test func `erasing an account under a reused idempotency key destroys nothing`() async throws {
        let world = try await World()
        let (first, second) = (
            try await world.person("ada@example.org"), try await world.person("bob@example.org")
        )
        _ = try await world.send(.post, "\(accounts)/\(first)/erase", idempotencyKey: "k")
        let before = world.destroyed.all
        let refused = try await world.send(
            .post, "\(accounts)/\(second)/erase", idempotencyKey: "k")
        #expect(refused.problem == .idempotencyKeyReused)
        #expect(world.destroyed.all == before)
        #expect(try await world.send(.get, "\(accounts)/\(second)").json["deletion_due"] == .null)
    }
}
