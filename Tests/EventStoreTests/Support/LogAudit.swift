import EventSourcing
import Postgres
import Testing
import Values

@testable import EventStore

/// Looks at the rows of one realm's log, all as of one instant, and expects that they keep every
/// promise.
struct LogAudit {
    let session: Session
    let keyring: Keyring
    let realm: RealmID

    /// Answers how many events there are.
    @discardableResult
    func run(_ ledgers: LedgerFile...) async throws -> Int64 {
        try await session.run("begin isolation level repeatable read read only")
        let count = try await checkPositions()
        try await checkStreams()
        try await checkCommands()
        try await checkClaims()
        for ledger in ledgers { try await check(ledger) }
        try await session.run("commit")
        return count
    }

    private func checkPositions() async throws -> Int64 {
        let count = try await number("select count(*) from urd.event where realm = $")
        let distinct = try await number(
            "select count(distinct position) from urd.event where realm = $")
        #expect(distinct == count, "A position is there twice.")
        #expect(
            try await number("select coalesce(min(position), 1) from urd.event where realm = $")
                == 1)
        #expect(
            try await number("select coalesce(max(position), 0) from urd.event where realm = $")
                == count)
        #expect(try await number("select position from urd.realm_log where realm = $") == count)
        return count
    }

    private func checkStreams() async throws {
        let inversions = try await number(
            """
            select count(*) from (
                select e.version,
                    row_number() over (partition by e.stream order by e.position) as place
                from urd.event e where e.realm = $) o
            where o.version <> o.place
            """)
        #expect(inversions == 0, "Versions of a stream must count up with its positions.")
        let differing = try await number(
            """
            select count(*)
            from (select s.stream, s.version from urd.stream s where s.realm = $) s
            full join (
                select e.stream, count(*) as events from urd.event e where e.realm = $
                group by e.stream) e using (stream)
            where s.version is distinct from e.events
            """)
        #expect(differing == 0, "A stream's version must be the number of its events.")
    }

    private func checkCommands() async throws {
        let differing = try await number(
            """
            select count(*)
            from (
                select c.command, c.position, c.events from urd.command c
                where c.realm = $ and c.events > 0) c
            full join (
                select e.command, min(e.position) as first, max(e.position) as last,
                    count(*) as events
                from urd.event e where e.realm = $ group by e.command) e using (command)
            where c.position is distinct from e.first or c.events is distinct from e.events
                or e.last <> e.first + e.events - 1
            """)
        #expect(differing == 0, "All events of a command stand side by side, or none is there.")
    }

    /// Plays what the events say of claims, in order, and compares what is left with the rows.
    private func checkClaims() async throws {
        var holders: [Int64: UUID] = [:]
        var position: Int64 = 0
        while true {
            let page = try await claimEvents(after: position)
            guard let last = page.last else { break }
            position = last.position
            for event in page {
                if let slot = event.take {
                    #expect(holders[slot] == nil, "A held claim was taken at \(event.position).")
                    holders[slot] = event.stream
                } else if let slot = event.release, holders[slot] == event.by {
                    holders[slot] = nil
                }
            }
        }
        let keys = try await keyring.keys(of: realm)
        let expected = holders.map { slot, stream in
            "\(Hex.encode(keys.blind(Claim("slot", String(slot))))) \(stream)"
        }
        let rows = try await session.texts(
            """
            select encode(key, 'hex') || ' ' || stream from urd.claim
            where realm = '\(realm)' and kind = 'slot'
            """)
        #expect(Set(rows) == Set(expected), "Who holds a claim is who took it last.")
        #expect(rows.count == expected.count)
    }

    private struct ClaimEvent: Sendable {
        let position: Int64
        let stream: UUID
        let take: Int64?
        let release: Int64?
        let by: UUID?
    }

    private func claimEvents(after position: Int64) async throws -> [ClaimEvent] {
        let realm = realm
        return try await session.rows(
            """
            select position, stream, (data ->> 'take')::bigint, (data ->> 'release')::bigint,
                (data ->> 'by')::uuid
            from urd.event where realm = '\(realm)' and position > \(position)
                and (data ->> 'take' is not null or data ->> 'release' is not null)
            order by position limit 20000
            """
        ) { rows, row in
            ClaimEvent(
                position: rows.int64(row, 0), stream: rows.identifier(row, 1),
                take: rows.isNull(row, 2) ? nil : rows.int64(row, 2),
                release: rows.isNull(row, 3) ? nil : rows.int64(row, 3),
                by: rows.isNull(row, 4) ? nil : rows.identifier(row, 4))
        }
    }

    /// Whatever a caller was told holds.
    private func check(_ ledger: LedgerFile) async throws {
        let realm = realm
        let commands = try await session.rows(
            "select command, position, events::bigint from urd.command where realm = '\(realm)'"
        ) { rows, row in
            (
                rows.identifier(row, 0),
                LedgerFile.Place(first: rows.int64(row, 1), count: rows.int64(row, 2))
            )
        }
        let found = Dictionary(uniqueKeysWithValues: commands)
        let missing = ledger.kept.filter { found[$0.key] != $0.value }
        #expect(missing.isEmpty, "Acknowledged, but not there: \(missing.count)")
        let revived = ledger.lost.filter { found[$0] != nil }
        #expect(revived.isEmpty, "Refused, but there: \(revived.count)")
        #expect(ledger.wrong.isEmpty)
    }

    /// `$` stands for the realm.
    private func number(_ sql: String) async throws -> Int64 {
        let parts = sql.split(separator: "$", omittingEmptySubsequences: false)
        return try await session.number(parts.joined(separator: "'\(realm)'"))
    }
}
