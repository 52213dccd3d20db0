import Identity
import JSON
import Testing
import Values

@testable import ReadModels

extension `A read model says the same as the folded streams` {
    @Test func `a read model equals the folded streams of mail failures`() async throws {
        var reasons: [UUID: String] = [:]
        for event in events where event.type.hasPrefix("mail.") {
            reasons[event.stream] =
                try JSON.parse(Array(event.data.utf8)).object?["reason"]?.string
        }
        // It follows the log, and here nobody drives it.
        _ = try world.value("urd.mails_1_apply('one', 1, \(self.events.count), null)")
        var told = 0
        for failedOnly in [false, true] {
            let entries = try await world.queries.ask(
                DeliveryView.mails, (failedOnly: failedOnly, after: nil, limit: 10_000), in: realm)
            for entry in entries {
                #expect(entry.reason?.rawValue == reasons[entry.id], "seed \(seed), \(entry.id)")
            }
            told += entries.count { $0.reason != nil }
        }
        // Few histories have no mail that failed, and most have many.
        #expect(told > 0 || reasons.isEmpty, "seed \(seed)")
    }
}
