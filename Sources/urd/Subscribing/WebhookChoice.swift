import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Values

/// Which events a webhook is sent, where an event does not say so itself.
extension WebhookRunner {
    /// How long the index is waited for before the runner looks after its deliveries again.
    private static let patience = Duration.milliseconds(100)

    /// Those that the index leaves out, of events that the log is read for; nil where it has not come as far.
    func leftOut(
        of events: [Recorded], _ selection: SubscriptionSelection, epoch: Int
    ) async throws -> Set<Int64>? {
        let undecided = selection.undecided(among: events)
        guard let asked = selection.aboutWhom, !undecided.isEmpty else { return [] }
        let subjects = EventSubjects(asked, index: service.queries, realm: realm)
        let wanted = try await subjects.positions(
            of: undecided, epoch: epoch, within: Self.patience)
        return wanted.map { Set(undecided.map(\.position)).subtracting($0) }
    }

    /// Those of what waited that the webhook does not want: other terms chose it, or it is of a range that was asked
    /// for by types and streams alone.
    func unwanted(
        of events: [Recorded], _ selection: SubscriptionSelection, epoch: Int
    ) async throws -> Set<Int64>? {
        guard let leftOut = try await leftOut(of: events, selection, epoch: epoch) else {
            return nil
        }
        return leftOut.union(events.filter { selection.wants($0) == false }.map(\.position))
    }
}
