import EventSourcing
import Synchronization

/// The epoch of each realm as this node knows it. Whoever meets another one must drop what it
/// folded: a failover or a restore took away a tail of the log that it believed in.
final class Epochs: Sendable {
    private let known = Mutex<[RealmID: Int]>([:])
    /// Hears of a realm whose epoch is another than the one that was known, or is known for the first
    /// time: what is in memory of its rows may not be there.
    private let changed: @Sendable (RealmID) -> Void

    init(changed: @escaping @Sendable (RealmID) -> Void = { _ in }) {
        self.changed = changed
    }

    func of(_ realm: RealmID) -> Int {
        known.withLock { $0[realm] ?? 0 }
    }

    /// Notes what the database says. False: it differs from what was known.
    func note(_ epoch: Int, _ realm: RealmID) -> Bool {
        let before = known.withLock { $0.updateValue(epoch, forKey: realm) }
        if before != epoch { changed(realm) }
        return before == nil || before == epoch
    }

    func forget(_ realm: RealmID) {
        known.withLock { $0[realm] = nil }
        changed(realm)
    }
}
