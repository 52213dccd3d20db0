import EventSourcing
import Synchronization

/// The epoch of each realm as this node knows it. Whoever meets another one must drop what it
/// folded: a failover or a restore took away a tail of the log that it believed in.
final class Epochs: Sendable {
    private let known = Mutex<[RealmID: Int]>([:])

    func of(_ realm: RealmID) -> Int {
        known.withLock { $0[realm] ?? 0 }
    }

    /// Notes what the database says. False: it differs from what was known.
    func note(_ epoch: Int, _ realm: RealmID) -> Bool {
        known.withLock { epochs in
            let before = epochs.updateValue(epoch, forKey: realm)
            return before == nil || before == epoch
        }
    }

    func forget(_ realm: RealmID) {
        known.withLock { $0[realm] = nil }
    }
}
