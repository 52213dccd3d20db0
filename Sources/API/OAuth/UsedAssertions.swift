internal import EventSourcing
internal import Identity
internal import Synchronization

/// The assertions that this process took where nothing is put on record: to ask about a token, or to
/// give one back. Those who ask so learn nothing new from a repeat, so that no other node needs to
/// know; and a log that grew with every question would be worth less than what it kept.
public final class UsedAssertions: Sendable {
    private struct Key: Hashable, Sendable {
        let realm: RealmID
        let client: String
        let id: String
    }

    private let known = Mutex(LeastRecent<Key, Bool>(capacity: 65_536))

    public init() {}

    /// Whether it was not used so before.
    func isNew(
        _ assertion: UsedAssertion, of client: String, in realm: RealmID, remember: Bool
    ) -> Bool {
        let key = Key(realm: realm, client: client, id: assertion.id)
        return known.withLock { known in
            guard known.value(of: key) == nil else { return false }
            if remember { known.set(true, for: key) }
            return true
        }
    }
}
