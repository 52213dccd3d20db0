import EventSourcing
import Foundation
import Identity
import Testing

@testable import API

@Suite struct `The rules of mails` {
    /// The event types that the read model of mails looks at, but for those of a mail's own stream.
    private let awaited: Set<String>

    init() throws {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "../../Projections/mails.sql")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let head = try #require(lines.first { $0.hasPrefix("-- types: ") })
        awaited = Set(
            head.split(separator: " ").dropFirst(2).map(String.init)
                .filter { !$0.hasPrefix("mail.") })
    }

    @Test func `the rules are for the events that the read model of mails looks at`() {
        #expect(API.mails.events == awaited)
    }

    @Test func `a rule's events stand in the catalogue of events`() {
        let known = Set(EventCatalogue.all.map(\.name))
        #expect(API.mails.events.subtracting(known) == [])
    }
}
