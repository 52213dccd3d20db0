import EventSourcing
import JSON
import Synchronization
import Telemetry

/// Counts sealed fields that were not erased and yet cannot be opened, each time they are read, and
/// says of each event once that it has them.
final class UnreadableFields: Sendable {
    private struct Place: Hashable {
        let realm: RealmID
        let position: Int64
    }

    /// Maximum number of reported events; more are only counted.
    private static let most = 1_000
    private let told = Mutex<Set<Place>>([])
    private let count: Counter
    private let log: Log

    init(_ metrics: Metrics, _ log: Log) {
        count = metrics.counter(
            "urd_unreadable_fields_total",
            help: "Readings of sealed fields that were not erased and cannot be opened.")
        self.log = log
    }

    func note(_ events: [Recorded]) {
        for event in events where event.personal == .unreadable {
            count.add()
            let place = Place(realm: event.realm, position: event.position)
            let isNew = told.withLock { told in
                told.count < Self.most && told.insert(place).inserted
            }
            guard isNew else { continue }
            log.error(
                "event.unreadable",
                [
                    "realm": .string(event.realm.name), "position": .integer(event.position),
                    "mend": "urd verify counts them",
                ])
        }
    }
}
