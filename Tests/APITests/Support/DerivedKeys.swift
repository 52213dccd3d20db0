import Cryptography
import Synchronization

@testable import API

/// The keys that a realm's secrets and names are derived from, which a test replaces.
final class DerivedKeys: Sendable {
    private struct State {
        let name = HMACKey(Random.bytes(32))
        /// The one in use first.
        var versions = [HMACKey(Random.bytes(32))]
    }

    private let state = Mutex(State())

    /// As it is now.
    var mint: TokenMint {
        let state = state.withLock { $0 }
        return TokenMint(versions: state.versions.count) { key, purpose, bytes in
            let key =
                switch key {
                case .name: state.name
                case .version(let number): state.versions[number]
                }
            return key.authenticate([Array(purpose.utf8), [0], bytes])
        }
    }

    /// A new version is accepted, and not in use yet.
    func announce() { state.withLock { $0.versions.append(HMACKey(Random.bytes(32))) } }

    func adopt() {
        state.withLock { state in
            let newest = state.versions.removeLast()
            state.versions.insert(newest, at: 0)
        }
    }

    func rotate() {
        announce()
        adopt()
    }

    func retire() { state.withLock { $0.versions = [$0.versions[0]] } }
}
