public import EventSourcing
public import ReadModels
internal import Values

/// Whom the events that a reader is sent are to be about. An event does not always say so itself: the index does,
/// which follows the log at a small distance (decision 0129).
public struct EventSubjects: Sendable {
    /// The accounts; empty for all.
    var accounts: Set<UUID> = []
    var clients: Set<UUID> = []
    /// What asks the index about them.
    var expression: FilterExpression?
    let index: any QuestionPort
    let realm: RealmID

    /// - Parameter expression: what asks the index, of a filter that is kept.
    public init(
        _ expression: FilterExpression? = nil, index: any QuestionPort, realm: RealmID
    ) {
        self.expression = expression
        self.index = index
        self.realm = realm
    }

    private static let shortestPause = Duration.milliseconds(2)
    private static let longestPause = Duration.milliseconds(100)

    var isEmpty: Bool { accounts.isEmpty && clients.isEmpty && expression == nil }

    /// Which of the events are about them, once the index has come as far as the last of them; nil where it
    /// has not within the time. Nothing is guessed: an event that it has not reached is neither sent nor
    /// left out.
    public func positions(
        of events: [Recorded], epoch: Int, within patience: Duration
    ) async throws -> Set<Int64>? {
        guard let last = events.last?.position else { return [] }
        let positions = events.map(\.position)
        let deadline = ContinuousClock.now + patience
        var pause = Self.shortestPause
        while true {
            if let found = try? await index.ask(
                EventReferences.ofPositions, positions, in: realm),
                found.epoch == epoch, found.position >= last
            {
                return Set(events.filter { wants($0, found.value) }.map(\.position))
            }
            guard ContinuousClock.now < deadline else { return nil }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func wants(_ event: Recorded, _ known: [Int64: [EventReferences]]) -> Bool {
        let references = known[event.position] ?? []
        guard accounts.isEmpty && clients.isEmpty || references.contains(where: has) else {
            return false
        }
        return expression?.holds(for: event, about: references) ?? true
    }

    private func has(_ references: EventReferences) -> Bool {
        (accounts.isEmpty || references.account.map(accounts.contains) ?? false)
            && (clients.isEmpty || references.client.map(clients.contains) ?? false)
    }
}
