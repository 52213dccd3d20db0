import EventSourcing
import Identity
import JSON
import Postgres
import Testing
import Values

@testable import ReadModels

@Suite struct `A read model of passkeys` {
    private let events: [Happening]
    private let world: World
    private let realm: RealmID
    private let seed: UInt64

    init() throws {
        world = try World()
        realm = try #require(RealmID("one"))
        seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var history = RandomHistory(seed: seed)
        var events: [Happening] = []
        for _ in 0..<60 {
            let batch = history.events(history.number(1...25))
            try world.append(batch, in: "one")
            events += batch
        }
        self.events = events
    }

    private func folded() throws -> [UUID: Passkey] {
        var states: [UUID: Passkey] = [:]
        for event in events where event.type.hasPrefix("passkey.") {
            let fields = try #require(try JSON.parse(Array(event.data.utf8)).object)
            let happened = try #require(PasskeyEvent(name: event.type, fields: fields))
            states[event.stream, default: Passkey()].apply(happened)
        }
        return states.filter { $0.value.enrolled != nil && !$0.value.isRemoved }
    }

    @Test func `says the same as the folded streams`() async throws {
        let folded = try folded()
        #expect(!folded.isEmpty)
        for (id, passkey) in folded {
            let enrolled = try #require(passkey.enrolled)
            let credential = enrolled.key.id
            let entry = try #require(
                try await Passkeys(world.pool).find(credential: credential, in: realm))
            #expect(entry.id == id && entry.account == enrolled.account, "seed \(seed)")
            #expect(entry.publicKey == enrolled.key.publicKey)
            #expect(entry.relyingParty == enrolled.relyingParty)
            #expect(entry.isBackupEligible == enrolled.key.isBackupEligible)
            #expect(entry.transports == enrolled.key.transports)
            #expect(entry.counter == passkey.counter, "seed \(seed), \(id)")
            let names = events.filter { $0.stream == id && $0.type == "passkey.renamed" }
            #expect(entry.named == names.last?.version, "seed \(seed), \(id)")
            let uses = events.filter { $0.stream == id && $0.type == "passkey.used" }
            #expect(entry.usedAt?.seconds == uses.last?.at.seconds, "seed \(seed), \(id)")
        }
        for account in Set(folded.values.compactMap { $0.enrolled?.account }) {
            let wanted = folded.filter { $0.value.enrolled?.account == account }.map(\.key)
            let found = try await Passkeys(world.pool).all(of: account, in: realm).map(\.id)
            #expect(found == wanted.sorted().reversed(), "seed \(seed)")
        }
        let rows = try world.superuser.executeOnce(
            "select count(*) from urd.passkeys where realm = 'one'", Parameters())
        #expect(rows.int64(0, 0) == Int64(folded.count), "seed \(seed)")
    }
}
