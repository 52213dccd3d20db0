import EventSourcing
import Identity
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `Kept cursors of feeds in PostgreSQL` {
    private let subscription = UUID(high: 91, low: 1)
    private let first = UUID(high: 91, low: 2)
    private let second = UUID(high: 91, low: 3)

    private func world() throws -> (World, FeedCursorStore, RealmID) {
        let world = try World()
        let realm = try #require(RealmID("one"))
        let terms = SubscriptionTerms(name: "Index", url: "")
        let created = SubscriptionEvent.created(.feed, terms, secret: nil, startsAfter: 0)
        try world.append(
            [happening(created, 1)], in: realm.name)
        return (world, FeedCursorStore(world.pool), realm)
    }

    private func happening(_ event: SubscriptionEvent, _ version: Int) -> Happening {
        Happening(
            event.name, subscription, version: version,
            String(decoding: JSON.object(event.fields).canonical(), as: UTF8.self))
    }

    private func at(_ position: Int64, epoch: Int = 1) -> LogCursor {
        LogCursor(epoch: epoch, position: position)
    }

    @Test func `one reader has a cursor, until it releases it or its term is over`() async throws {
        let (world, store, realm) = try world()
        let (mine, other) = (
            FeedLeaseName(realm, subscription, reader: first),
            FeedLeaseName(realm, subscription, reader: second)
        )
        guard case .leased(let cursor) = try await store.claim(mine, from: at(3), takingOver: false)
        else { throw Unexpected() }
        #expect(cursor.acknowledged == at(3))
        #expect(cursor.sent == 3)
        guard case .held = try await store.claim(other, from: at(9), takingOver: false) else {
            throw Unexpected()
        }
        #expect(try await store.renew([mine, other]) == [mine])
        try await store.release(other)
        guard case .held = try await store.claim(other, from: at(9), takingOver: false) else {
            throw Unexpected()
        }
        try await store.release(mine)
        guard case .leased(let again) = try await store.claim(other, from: at(9), takingOver: false)
        else { throw Unexpected() }
        // Where it was, and not where it would begin.
        #expect(again.acknowledged == at(3))
        try world.superuser.run(
            "update urd.subscription_cursor set lease_until = now() - interval '1 second'")
        guard case .leased = try await store.claim(mine, from: at(9), takingOver: false) else {
            throw Unexpected()
        }
    }

    @Test func `a reader whose cursor was taken is permitted nothing and renews nothing`()
        async throws
    {
        let (_, store, realm) = try world()
        let (mine, other) = (
            FeedLeaseName(realm, subscription, reader: first),
            FeedLeaseName(realm, subscription, reader: second)
        )
        _ = try await store.claim(mine, from: at(0), takingOver: false)
        #expect(try await store.permit(mine, through: at(5)))
        _ = try await store.claim(other, from: at(0), takingOver: true)
        #expect(try await !store.permit(mine, through: at(6)))
        #expect(try await store.renew([mine]) == [])
        #expect(try await store.permit(other, through: at(4)))
        #expect(try await store.cursor(of: subscription, in: realm)?.sent == 5)
    }

    @Test func `what is confirmed moves forward, and not beyond what was sent`() async throws {
        let (_, store, realm) = try world()
        let mine = FeedLeaseName(realm, subscription, reader: first)
        #expect(try await store.acknowledge(at(1), of: subscription, in: realm) == .missing)
        _ = try await store.claim(mine, from: at(0), takingOver: false)
        #expect(try await store.permit(mine, through: at(5)))
        for position in [Int64(0), 3, 3, 5] {
            let outcome = try await store.acknowledge(
                at(position), of: subscription, in: realm)
            #expect(outcome == .taken)
        }
        for position in [Int64(4), 6] {
            guard
                case .outOfRange(let known) = try await store.acknowledge(
                    at(position), of: subscription, in: realm)
            else { throw Unexpected() }
            #expect(known.acknowledged == at(5))
            #expect(known.sent == 5)
        }
        // In another epoch the positions behind it may be other events.
        #expect(try await store.permit(mine, through: at(4, epoch: 2)))
        #expect(try await store.cursor(of: subscription, in: realm)?.sent == 4)
    }

    @Test func `a deleted subscription is claimed by nobody, and its reader loses it`() async throws
    {
        let (world, store, realm) = try world()
        let mine = FeedLeaseName(realm, subscription, reader: first)
        _ = try await store.claim(mine, from: at(0), takingOver: false)
        #expect(try await store.longestLag() == 1)
        let deleted = SubscriptionEvent.deleted
        try world.append(
            [happening(deleted, 2)], in: realm.name)
        #expect(try await store.renew([mine]) == [])
        #expect(try await store.longestLag() == 0)
        try await store.forget(subscription, in: realm)
        #expect(
            try await store.claim(mine, from: at(0), takingOver: true) == .missing)
        #expect(try await store.cursor(of: subscription, in: realm) == nil)
    }

    private struct Unexpected: Error {}
}
