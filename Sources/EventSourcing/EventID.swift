internal import Values

/// What names an event in every realm, on every channel and in every repetition: `evt_` and the first
/// half of its leaf. No restore gives it to another event, and an inclusion proof shows that it is right.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
    public static let prefix = "evt_"

    private let half: UUID

    public init(_ leaf: LeafHash) {
        half = UUID(high: leaf.words.0, low: leaf.words.1)
    }

    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(String(text.dropFirst(Self.prefix.count))),
            let half = UUID(bytes: bytes)
        else { return nil }
        self.half = half
    }

    /// What the leaf begins with.
    public var bytes: [UInt8] { half.bytes }

    public var description: String { Self.prefix + Base64URL.encode(half.bytes) }
}
