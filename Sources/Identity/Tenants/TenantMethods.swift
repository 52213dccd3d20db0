public import EventSourcing
public import Values

/// The ways in which one person signs in within the apps of one tenant: no other tenant's apps know of them.
public struct TenantMethods: StreamState {
    public private(set) var keys: [DeviceKey] = []
    /// The hash of the PIN. Nil: there is none, or its person was erased.
    public private(set) var pin: String?
    private var wrongGuesses = 0
    /// The request of another device that may be answered: a newer one ends the one before.
    public private(set) var awaited: AwaitedApproval?

    /// So many wrong PINs, and none is taken until the person has set another one.
    public static let guesses = 5
    /// More than this, and no other key is enrolled.
    public static let mostKeys = 20

    public init() {}

    public mutating func apply(_ event: TenantMethodEvent) {
        switch event {
        case .keyEnrolled(let key, _, _, _): keys.append(key)
        case .keyRemoved(let id, _, _): keys.removeAll { $0.id == id }
        case .pinSet(let hash, _, _, _, _):
            pin = hash
            wrongGuesses = 0
        case .pinRefused: wrongGuesses += 1
        case .pinUsed: wrongGuesses = 0
        case .pinRemoved:
            pin = nil
            wrongGuesses = 0
        case .approvalAwaited(let awaited, _, _): self.awaited = awaited
        }
    }

    /// Only a new PIN ends it.
    public var isLocked: Bool { wrongGuesses >= Self.guesses }
    var wasGuessed: Bool { wrongGuesses > 0 }

    public var enrolled: [TenantMethod] {
        TenantMethod.allCases.filter { method in
            method == .pin ? pin != nil : keys.contains { $0.method == method }
        }
    }

    public func key(_ id: UUID) -> DeviceKey? { keys.first { $0.id == id } }

    public func key(_ bytes: [UInt8], for method: TenantMethod) -> DeviceKey? {
        keys.first { $0.publicKey == bytes && $0.method == method }
    }
}

/// A request of another device that waits for a trusted one.
public struct AwaitedApproval: Sendable, Equatable {
    /// Its stream, and the number that apps know it by.
    public var approval: UUID
    public var number: Int64
    public var expiresAt: Timestamp

    public init(approval: UUID, number: Int64, expiresAt: Timestamp) {
        self.approval = approval
        self.number = number
        self.expiresAt = expiresAt
    }
}
