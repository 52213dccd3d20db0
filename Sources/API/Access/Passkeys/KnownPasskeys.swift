internal import EventSourcing
internal import Synchronization

/// Passkeys that somebody signed in with lately: their keys, which never change.
///
/// One may have been removed since, here or through another node. So this is good only where the log has
/// the last word, and never is a reason to refuse: for that one asks again.
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
