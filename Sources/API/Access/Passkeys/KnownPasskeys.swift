internal import EventSourcing
internal import ReadModels
internal import Synchronization

/// A cache of passkeys that signed users in lately: their keys, which never change.
///
/// A cached passkey may have been removed since, here or through another node. So the cache is good
/// only where the log has the last word, and never is a reason to refuse: a refusal reads the log.
final class KnownPasskeys: Sendable {
    private struct Key: Hashable, Sendable {
        let realm: RealmID
        let credential: [UInt8]
    }

    private let known = Mutex(LeastRecent<Key, PasskeyView?>(capacity: 16_384))

    func find(_ credential: [UInt8], in realm: RealmID) -> PasskeyView? {
        known.withLock { $0.value(of: Key(realm: realm, credential: credential)) } ?? nil
    }

    func keep(_ passkey: PasskeyView, in realm: RealmID) {
        known.withLock {
            $0.set(passkey, for: Key(realm: realm, credential: passkey.credential))
        }
    }

    func forget(_ credential: [UInt8], in realm: RealmID) {
        let key = Key(realm: realm, credential: credential)
        known.withLock { known in
            if known.value(of: key) != nil { known.set(nil, for: key) }
        }
    }
}
