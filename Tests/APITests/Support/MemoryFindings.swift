import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Testing
import Values

/// Findings, folded from the log each time.
extension MemoryQueries {
    func findings(
        in realm: RealmID,
        _ asked: (selection: FindingSelection, after: UUID?, limit: Int) = (
            FindingSelection(), nil, .max
        )
    ) async throws(LogFailure) -> ListPage<FindingView> {
        let (selection, after, limit) = asked
        var states: [UUID: (state: Finding, first: Recorded, last: Recorded)] = [:]
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            guard let event = FindingEvent(recorded) else { continue }
            var known = states[recorded.stream] ?? (Finding(), recorded, recorded)
            known.state.apply(event)
            known.last = recorded
            states[recorded.stream] = known
        }
        let views = states.map { id, known in
            FindingView(
                id: id, known.state, raisedAt: known.first.at,
                raisedPosition: known.first.position,
                closing: known.state.closed.map {
                    FindingView.Closing(
                        at: known.last.at, cause: $0.cause.rawValue, reason: $0.reason,
                        by: known.last.actor)
                })
        }
        let wanted = views.filter { view in
            (selection.isOpen.map { $0 == (view.closing == nil) } ?? true)
                && (selection.rule.map { $0 == view.rule } ?? true)
                && (selection.account.map { $0 == view.account } ?? true)
                && (selection.source.map { $0 == view.source } ?? true)
                && (after.map { view.id < $0 } ?? true)
        }
        return try await listed(Array(wanted.sorted { $1.id < $0.id }.prefix(limit)), of: realm)
    }
}

extension World {
    /// An open finding.
    @discardableResult
    func furnishFinding(
        _ rule: FindingRule = .bruteForce, of account: UUID? = nil, source: String? = nil,
        level: FindingLevel = .medium
    ) async throws -> UUID {
        let id = UUID.random()
        var fields: JSONObject = [
            "rule": .string(rule.rawValue), "level": .string(level.rawValue), "positions": [1, 2],
            "from": 1_800_000_000, "to": 1_800_000_600, "counts": ["failures": 10],
        ]
        fields["account"] = account.map { .string($0.description) }
        fields["source"] = source.map { .string($0) }
        let event = try #require(FindingEvent(name: "finding.raised", fields: fields))
        try await happen(Finding.self, event, in: id)
        return id
    }
}
