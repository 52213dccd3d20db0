import EventSourcing
import Identity
import Testing
import Values

@testable import API

@Suite struct `A command in a realm that is disabled or missing` {
    /// What a request is told that schedules the deletion of an account.
    private func problem(
        _ naming: RealmNaming, in realm: RealmID, _ log: WatchedLog
    ) async throws -> ProblemKind? {
        let now = Timestamp(seconds: 1_800_000_000)
        let port: any CommandPort = Dispatcher(log: log)
        do throws(Problem) {
            _ = try await port.attempt(
                AccountChange.scheduleDeletion(UUID(high: 1, low: 1), now: now), in: realm,
                named: naming, id: .random(), by: Origin(actor: "system", at: now))
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `a rejection of the realm is worded by how the request names the realm`()
        async throws
    {
        let (log, realm) = (WatchedLog(), try #require(RealmID("acme")))
        #expect(try await problem(.host, in: realm, log) == .unknownHost)
        #expect(try await problem(.path, in: realm, log) == .noSuchRealm)
        try await dispatch(RealmChange.create(displayName: "Acme"), in: realm, log)
        try await dispatch(RealmChange.disable(), in: realm, log)
        #expect(try await problem(.host, in: realm, log) == .realmClosed)
        #expect(try await problem(.path, in: realm, log) == .realmDisabled)
    }

    private func dispatch(
        _ command: some Command, in realm: RealmID, _ log: WatchedLog
    ) async throws {
        _ = try await Dispatcher(log: log).dispatch(
            command, in: realm, id: .random(),
            origin: Origin(actor: "system", at: Timestamp(seconds: 1_800_000_000)))
    }
}
