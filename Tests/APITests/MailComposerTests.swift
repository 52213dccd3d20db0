import API
import EventSourcing
import EventStore
import Identity
import JSON
import Synchronization
import Testing

@Suite struct `Settings that mails are composed from` {
    private final class Named: Sendable {
        let name = Mutex("Lost")
    }

    @Test func `mail names are read anew after the log changed its epoch, at any position`()
        async throws
    {
        let world = try await SignInWorld()
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let event = try #require(
            try await world.log.events(from: 1, limit: .max, in: world.realm).last {
                $0.name == "otp.issued"
            })
        let (hub, named, mint) = (CommitHub(), Named(), world.mint)
        hub.publishConfiguration(Head(epoch: 1, position: 90), of: world.realm)
        let composer = MailComposer(
            mint: { _ in mint }, events: world.log, revision: { hub.configuration(of: $0) },
            settings: { _, _ in
                Settings(overrides: ["display_name": .string(named.name.withLock { $0 })])
            })
        let text = { try await composer.letter(for: event)?.text ?? "" }
        #expect(try await text().contains("Lost"))
        named.name.withLock { $0 = "Kept" }
        // Nobody said that anything had changed.
        #expect(try await text().contains("Lost"))
        // A standby that lost the tail took the place of the primary.
        hub.publishConfiguration(Head(epoch: 2, position: 7), of: world.realm)
        #expect(try await text().contains("Kept"))
    }
}
