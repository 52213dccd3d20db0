import EventSourcing
import Identity
import JOSE
import Synchronization
import Testing
import Values

@testable import API

@Suite struct `The keys of a realm's tokens` {
    private func node(
        _ log: WatchedLog, hears: Bool = true, second: @escaping @Sendable () -> Int64 = { 0 }
    ) -> TokenKeys {
        TokenKeys(
            commands: Dispatcher(log: log),
            clock: RealmContext.Clock(
                now: { Timestamp(seconds: 1_800_000_000) }, passed: { .seconds(second()) }),
            revision: { _ in hears ? log.revision : 0 }, generate: { try SigningKey.pooled($0) })
    }

    private func carryOut(
        _ command: some Command, _ realm: RealmID, _ log: WatchedLog
    ) async throws {
        _ = try await Dispatcher(log: log).dispatch(
            command, in: realm, id: .random(),
            origin: Origin(actor: "system", at: Timestamp(seconds: 1_800_000_000)))
    }

    private func token(_ key: SigningKey) throws -> String {
        let now = Timestamp(seconds: 1_800_000_000)
        return try AccessToken(
            issuer: "https://id.example", subject: "s", audience: ["https://id.example"],
            clientID: "c", id: "t", issuedAt: now, expiresAt: now.adding(seconds: 60)
        ).signed(by: key)
    }

    @Test func `token keys made on another node are looked for once a second`() async throws {
        let (log, realm) = (WatchedLog(), try #require(RealmID("acme")))
        try await carryOut(RealmChange.create(displayName: "Acme"), realm, log)
        let second = Clock()
        let (there, here) = (
            node(log), node(log, hears: false) { second.now.withLock { $0 } / 1_000_000 }
        )
        _ = try await here.keys(of: realm)
        for _ in 0..<2 {
            try await carryOut(
                SigningKeyChange.rotate(
                    next: try NewSigningKey(.pooled(.es256)),
                    now: Timestamp(seconds: 1_800_000_000)), realm, log)
        }
        let signer = try #require(try await there.keys(of: realm).active[.es256])
        #expect(try await here.keys(of: realm).active[.es256]?.id != signer.id)
        let text = try token(signer)
        let now = Timestamp(seconds: 1_800_000_000)
        #expect(try await here.verify(text, of: realm, at: now)?.subject == "s")
        #expect(try await here.verify(text, of: realm, at: now.adding(seconds: 60)) == nil)
        #expect(try await here.verify(text, of: realm, at: nil)?.subject == "s")
        // A stranger's key is found nowhere, and asking again costs nothing within the second.
        let forged = try token(.pooled(.es256))
        #expect(try await here.verify(forged, of: realm, at: now) == nil)
        log.fail(with: .unavailable)
        #expect(try await here.verify(forged, of: realm, at: now) == nil)
        second.now.withLock { $0 += 1_000_000 }
        await #expect(throws: LogFailure.unavailable) {
            try await here.verify(forged, of: realm, at: now)
        }
    }

    @Test
    func `token keys are all published where a private one is unreadable, and the others sign`()
        async throws
    {
        let (log, realm) = (WatchedLog(), try #require(RealmID("acme")))
        try await carryOut(RealmChange.create(displayName: "Acme"), realm, log)
        let before = try await node(log).keys(of: realm)
        #expect(before.active.count == 2)
        log.erase(SigningKeys.stream, in: realm)
        let after = try await node(log).keys(of: realm)
        #expect(after.active.isEmpty)
        #expect(after.document == before.document)
        let text = try token(try #require(before.active[.es256]))
        let now = Timestamp(seconds: 1_800_000_000)
        #expect(try await node(log).verify(text, of: realm, at: now)?.subject == "s")
    }

    @Test func `token keys are not made for a disabled or missing realm`() async throws {
        let (log, realm) = (WatchedLog(), try #require(RealmID("acme")))
        await #expect(throws: LogFailure.unavailable) { try await node(log).keys(of: realm) }
        try await carryOut(RealmChange.create(displayName: "Acme"), realm, log)
        try await carryOut(RealmChange.disable(), realm, log)
        await #expect(throws: LogFailure.unavailable) { try await node(log).keys(of: realm) }
    }
}
