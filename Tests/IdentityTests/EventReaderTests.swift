import EventSourcing
import Foundation
import Identity
import Testing

/// Findings and policies look at some types of events and pass over all others: by the meaning that a type's form names. The
/// golden list shows which.
@Suite struct `Who reads which event` {
    private static let readers: [(name: String, types: Set<String>)] = [
        ("findings", Set(FindingEngine.eventTypes)),
        ("findings of administration", Set(FindingEngine.administrationTypes)),
        ("policies", Set(PolicyFact.types)),
    ]

    @Test func `the readers of each type are those of the golden list`() throws {
        let text =
            EventCatalogue.newest.map { shape in
                let names = Self.readers.filter { $0.types.contains(shape.name) }.map(\.name)
                return "\(shape.name) | \(names.isEmpty ? "–" : names.joined(separator: ", "))"
            }.joined(separator: "\n") + "\n"
        let list = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "golden/readers.txt")
        if let folder = ProcessInfo.processInfo.environment["URD_GOLDEN"] {
            try Data(text.utf8).write(to: URL(filePath: folder).appending(path: "readers.txt"))
        }
        let expected = (try? String(contentsOf: list, encoding: .utf8)) ?? ""
        #expect(
            text == expected,
            """
            golden/readers.txt says something else. Look at each new type of event: does the reader have to know \
            it? Then renew the list:
            URD_GOLDEN=Tests/IdentityTests/golden swift test --skip-build --enable-swift-testing --filter IdentityTests
            """)
    }

    @Test func `no reader waits for a type that no event has`() {
        let known = Set(EventCatalogue.all.map(\.name))
        for reader in Self.readers {
            #expect(reader.types.subtracting(known).sorted() == [], "\(reader.name)")
        }
    }
}
