public import EventSourcing
public import JSON
internal import Values

/// Says by which keys a realm reads what Google says of its apps. All of them at once, so that an old
/// key goes when a new key comes.
public struct SetIntegrityKeys: Command {
    /// A JWK set.
    public var verification: JSON
    /// AES-256 keys, in base64 of either alphabet.
    public var decryption: [String]

    public init(verification: JSON, decryption: [String]) {
        self.verification = verification
        self.decryption = decryption
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    static let most = 8

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<IntegrityKeys> {
        try await .read(IntegrityKeys.stream, from: streams)
    }

    public func decide(_ facts: InRealm<IntegrityKeys>) throws(Rejection) -> Decision {
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
