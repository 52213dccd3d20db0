import EventSourcing
import JSON
import Testing
import Values

@Suite struct `A filter of events` {
    private func event(_ name: String, stream: UInt64 = 1) throws -> Recorded {
        let leaf = try #require(LeafHash([UInt8](repeating: 7, count: LeafHash.length)))
        return Recorded(
            realm: try #require(RealmID("acme")), position: 1, stream: UUID(high: 1, low: stream),
            version: 1, name: name, revision: 1, at: Timestamp(microseconds: 1), command: .zero,
            subject: nil, actor: "system", client: nil, correlation: nil, leaf: leaf, open: [:],
            personal: .none)
    }

    @Test func `a filter without conditions wants all but what nobody asked for`() throws {
        var filter = EventFilter()
        filter.unasked = ["mail.sent"]
        #expect(filter.wants(try event("account.registered")))
        #expect(filter.wants(try event("of.a.later.version")))
        #expect(!filter.wants(try event("mail.sent")))
    }

    @Test func `a filter wants what it names, and of families what is asked for`() throws {
        var filter = EventFilter()
        filter.unasked = ["mail.sent", "mail.queued"]
        filter.types = .init(names: ["mail.sent"], families: ["mail.", "account."])
        #expect(filter.wants(try event("mail.sent")))
        #expect(!filter.wants(try event("mail.queued")))
        #expect(filter.wants(try event("account.registered")))
        #expect(!filter.wants(try event("accountant.registered")))
        filter.excluded = .init(names: ["mail.sent"], families: ["account."])
        #expect(!filter.wants(try event("mail.sent")))
        #expect(!filter.wants(try event("account.registered")))
    }

    @Test func `a filter wants the events of its streams alone`() throws {
        var filter = EventFilter()
        filter.streams = [UUID(high: 1, low: 2), UUID(high: 1, low: 3)]
        #expect(filter.wants(try event("a.b", stream: 2)))
        #expect(!filter.wants(try event("a.b", stream: 1)))
    }

    @Test func `shards part the streams, each of which is in one`() throws {
        for count in [1, 2, 8, 64] {
            let shards = try (0..<count).map {
                try #require(EventFilter.Shard(index: $0, of: count))
            }
            for stream in 0..<200 as Range<UInt64> {
                let id = UUID(high: stream &* 0x9E37_79B9, low: stream)
                #expect(shards.count { $0.has(id) } == 1)
            }
        }
        for (index, count) in [(-1, 2), (2, 2), (0, 0), (0, 65)] {
            #expect(EventFilter.Shard(index: index, of: count) == nil)
        }
    }

    @Test func `the shard of a stream follows from its id as it is written`() throws {
        // FNV-1a (64 bits) of the 36 characters, which other languages compute alike.
        let id = try #require(UUID("0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"))
        let hash = id.description.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        let shard = try #require(EventFilter.Shard(index: Int(hash % 8), of: 8))
        #expect(shard.has(id))
    }
}
