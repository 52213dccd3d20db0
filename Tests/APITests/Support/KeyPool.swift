import Cryptography
import JOSE
import Synchronization

extension RS256.PrivateKey {
    /// A key that no test needs to be new: making one takes longer than most tests do. Sixteen are made as they
    /// are asked for, and then given in turn, to all tests that run: whoever needs one that differs from another makes it.
    static func pooled() throws(Failure) -> Self { try Self(pkcs8: KeyPool.shared.next()) }
}

extension SigningKey {
    static func pooled(
        _ algorithm: SigningAlgorithm, id: String? = nil
    ) throws(Failure) -> SigningKey {
        guard algorithm == .rs256 else { return try .generate(algorithm, id: id) }
        return try SigningKey(pkcs8: KeyPool.shared.next(), algorithm: algorithm, id: id)
    }
}

private final class KeyPool: Sendable {
    static let shared = KeyPool()

    private let made = Mutex<(keys: [SecretBytes], given: Int)>(([], 0))

    func next() throws(Failure) -> SecretBytes {
        try made.withLock { made throws(Failure) in
            if made.keys.count < 16 {
                made.keys.append(try RS256.PrivateKey.generate().pkcs8())
            }
            made.given += 1
            return made.keys[(made.given - 1) % made.keys.count]
        }
    }
}
