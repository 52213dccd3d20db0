import EventSourcing
import Foundation
import Identity
import JSON
import Testing
import Values

@Suite struct `What events are in other vocabularies` {
    @Test func `the tables are those of the golden list`() throws {
        let text =
            EventCatalogue.newest.map { shape in
                let signals = SignalTable.rules(for: shape.name).map(\.description)
                let records = OCSFTable.rules(for: shape.name).map(\.description)
                return [shape.name, shape.reach.rawValue]
                    + [signals, records].map {
                        $0.isEmpty ? "–" : $0.joined(separator: "; ")
                    }
            }.map { $0.joined(separator: " | ") }.joined(separator: "\n") + "\n"
        let list = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "golden/mappings.txt")
        if let folder = ProcessInfo.processInfo.environment["URD_GOLDEN"] {
            try Data(text.utf8).write(to: URL(filePath: folder).appending(path: "mappings.txt"))
        }
        let expected = (try? String(contentsOf: list, encoding: .utf8)) ?? ""
        #expect(
            text == expected,
            """
            golden/mappings.txt says something else. If that is meant, renew it:
            URD_GOLDEN=Tests/IdentityTests/golden swift test --skip-build --enable-swift-testing --filter IdentityTests
            """)
    }

    @Test func `every signal that Urd may send is one of some event`() {
        let used = Set(SignalTable.rules.values.flatMap { $0.map(\.kind) })
        #expect(used == Set(SignalKind.allCases))
        #expect(
            SignalKind.sessionRevoked.uri
                == "https://schemas.openid.net/secevent/caep/event-type/session-revoked")
        #expect(
            SignalKind.accountPurged.uri
                == "https://schemas.openid.net/secevent/risc/event-type/account-purged")
        for uri in SharedSignals.supported { #expect(SignalKind(uri: uri)?.uri == uri) }
    }

    @Test func `an event that ends sessions or changes a credential has a reason to tell`() throws {
        for sample in try samples() {
            let facts = SignalFacts(
                account: host, formerFactors: [], claims: ["email": "x", "resource_access": [:]])
            for signal in SharedSignals.signals(for: recorded(sample), knowing: facts) {
                #expect(!signal.reason.isEmpty, "\(sample.name)")
                #expect(signal.subject.user != nil, "\(sample.name)")
            }
        }
    }

    @Test func `an event is told under one type of record at least, unless it is plumbing`() throws
    {
        for sample in try samples() {
            let event = recorded(sample)
            let rules = OCSFFacts().rules(for: event)
            #expect(rules.isEmpty == OCSFTable.rules(for: event.name).isEmpty, "\(event.name)")
            for rule in rules { #expect(rule.type / 100 == rule.recordClass.rawValue) }
        }
    }
}
