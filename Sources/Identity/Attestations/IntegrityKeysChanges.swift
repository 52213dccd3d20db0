package import EventSourcing
package import JSON
internal import Values

/// Changes of the keys by which a realm reads verdicts of Google Play Integrity.
package enum IntegrityKeysChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<IntegrityKeys>, Rejection>

    private static let most = 8

    package enum SetRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    /// Says by which keys a realm reads what Google says of its apps. All of them at once, so that an old
    /// key goes when a new key comes.
    /// - Parameter verification: A JWK set.
    /// - Parameter decryption: AES-256 keys, in base64 of either alphabet.
    package static func set(verification: JSON, decryption: [String]) -> Change<SetRejection> {
        Change(of: IntegrityKeys.stream) { facts throws(SetRejection) in
            guard decryption.count <= Self.most else {
                throw .invalid(FieldFault("decryption_keys", .tooMany(limit: Self.most)))
            }
            var keys: [String] = []
            for (index, text) in decryption.enumerated() {
                guard let bytes = Base64.decode(text) ?? Base64URL.decode(text), bytes.count == 32
                else {
                    throw .invalid(FieldFault("decryption_keys", .malformed, at: index))
                }
                keys.append(Base64URL.encode(bytes))
            }
            return Decision(
                IntegrityKeysEvent.set(verification: verification, decryption: keys),
                in: IntegrityKeys.stream)
        }
    }
}
