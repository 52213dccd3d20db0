import EventSourcing
import EventStore
import PostgresTesting
import Testing
import Values

@Suite struct `Two nodes that write to one realm` {
    @Test func `two nodes that write to one realm keep every promise of the log`() async throws {
        let store = try TestStore()
        defer { store.log.close() }
        let realm = newRealm()
        var ledgers = [LedgerFile("one"), LedgerFile("two")]
        defer { for ledger in ledgers { ledger.remove() } }
        let seed = UInt64.random(in: 0 ... .max / 2000)
        // A command has two events on average.
        let commands = Cycles.of(1_000, long: 100_000)
        var nodes: [WriterProcess] = []
        for (number, ledger) in ledgers.enumerated() {
            nodes.append(
                try WriterProcess(
                    store.database, master: store.master, realm: realm, ledger: ledger.path,
                    callers: 4, commands: commands, seed: seed + UInt64(number)))
        }
        for node in nodes { #expect(try await node.ended() == 0) }
        for index in ledgers.indices { try ledgers[index].catchUp() }

        let session = try await Session(store.database.superuser)
        let audit = LogAudit(session: session, keyring: store.keyring, realm: realm)
        let events = try await audit.run(ledgers[0], ledgers[1])
        let kept = ledgers.reduce(0) { $0 + $1.kept.count }
        let lost = ledgers.reduce(0) { $0 + $1.lost.count }
        #expect(kept + lost == 8 * commands, "seed \(seed)")
        #expect(events > kept)
        // They did meet: otherwise this proves nothing.
        #expect(lost > commands / 20, "seed \(seed)")
    }
}
