public import EventSourcing
internal import Values

/// Something suspicious that a rule found in the log.
public struct Finding: StreamState {
    public private(set) var raised: RaisedFinding?
    public private(set) var level = FindingLevel.low
    /// Of all events that it rests on.
    public private(set) var positions: [Int64] = []
    public private(set) var closed: ClosedFinding?

    public init() {}

    public mutating func apply(_ event: FindingEvent) {
        switch event {
        case .raised(let finding):
            raised = finding
            level = finding.level
            positions = finding.positions
        case .escalated(let change):
            level = change.level
            positions.append(change.position)
        case .closed(let end): closed = end
        }
    }

    public var isOpen: Bool { raised != nil && closed == nil }
}

/// A finding, and the other findings about the same account that are open: together they are its risk.
public struct FindingFacts: Sendable {
    let finding: Versioned<Finding>
    let others: [Versioned<Finding>]

    static func read(
        _ id: UUID, besides others: [UUID], from streams: some StreamReader
    ) async throws(LogFailure) -> FindingFacts {
        var read: [Versioned<Finding>] = []
        for other in Set(others).subtracting([id]).sorted() {
            read.append(try await streams.read(Finding.self, other))
        }
        return FindingFacts(finding: try await streams.read(Finding.self, id), others: read)
    }

    func risk(
        of account: UUID?, from former: FindingLevel?, to now: FindingLevel?
    ) -> RiskChange? {
        guard let account else { return nil }
        let levels = others.map(\.state).filter { $0.isOpen && $0.raised?.account == account }
            .map(\.level)
        return RiskChange(others: levels, from: former, to: now)
    }
}
