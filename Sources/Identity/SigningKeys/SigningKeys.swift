public import EventSourcing
public import Values

/// The keys that a realm signs tokens with: of each algorithm one that signs, one that is known
/// beforehand, and those whose tokens are still about.
public struct SigningKeys: StreamState {
    public enum Phase: Sendable, Equatable {
        case published
        case active
        case retired(at: Timestamp)
    }

    public struct Entry: Sendable, Equatable {
        public let key: NewSigningKey
        public internal(set) var phase: Phase
    }

    /// The keys, the oldest first.
    public private(set) var entries: [Entry] = []

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0002)

    /// Of the keys that sign messages of webhooks beside their secrets. They verify no token.
    public static let webhookAlgorithm = "Ed25519"

    /// Of the keys that apps of the federation profile encrypt assertions to, as JOSE calls them. They verify no
    /// token either.
    public static let encryptionAlgorithms = ["RSA-OAEP-256", "ECDH-ES"]

    public init() {}

    public mutating func apply(_ event: SigningKeyEvent) {
        switch event {
        case .published(let key): entries.append(Entry(key: key, phase: .published))
        case .activated(let id): change(id, to: .active)
        case .retired(let id, let at): change(id, to: .retired(at: at))
        case .removed(let id): entries.removeAll { $0.key.id == id }
        }
    }

    private mutating func change(_ id: String, to phase: Phase) {
        guard let index = entries.firstIndex(where: { $0.key.id == id }) else { return }
        entries[index].phase = phase
    }

    /// For this long a retired key is still shown: longer than any token lives.
    public static let overlap: Int64 = 30 * 86_400

    /// The keys of the JWK set, the oldest first.
    public func shown(at now: Timestamp) -> [Entry] {
        entries.filter { entry in
            guard case .retired(let at) = entry.phase else { return true }
            return now < at.adding(seconds: Self.overlap)
        }
    }

    /// The key that signs.
    public func active(_ algorithm: String) -> NewSigningKey? {
        entries.last { $0.phase == .active && $0.key.algorithm == algorithm }?.key
    }
}
