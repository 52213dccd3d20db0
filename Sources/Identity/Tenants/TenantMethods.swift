public import EventSourcing
public import Values

/// The ways in which one person signs in within the apps of one tenant: no other tenant's apps know of them.
public struct TenantMethods: StreamState {
    public private(set) var keys: [DeviceKey] = []
    /// The hash of the PIN. Nil: there is none, or its person was erased.
    public private(set) var pin: String?
    private var wrongGuesses = 0
    /// The requests of other devices that may be answered, oldest first: one for each block of networks, so that no
    /// stranger's request ends the person's own. A newer one of the same block ends the one before.
    public private(set) var awaited: [AwaitedApproval] = []

    /// So many wrong PINs, and none is taken until the person has set another one.
    public static let guesses = 5
    /// Maximum number of waiting requests of a person.
    static let mostAwaited = 8
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
        case .approvalAwaited(let new, _, _):
            awaited.removeAll { $0.network == new.network || $0.hasExpired(before: new) }
            if awaited.count == Self.mostAwaited { awaited.removeFirst() }
            awaited.append(new)
        }
    }

    /// Only a new PIN ends it.
    public var isLocked: Bool { wrongGuesses >= Self.guesses }
    var wasGuessed: Bool { wrongGuesses > 0 }

    /// Whether one more request may wait.
    func admits(_ new: AwaitedApproval) -> Bool {
        awaited.count { $0.network != new.network && !$0.hasExpired(before: new) }
            < Self.mostAwaited
    }

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
    /// A keyed digest of the block of networks that it came from.
    public var network: [UInt8]?

    public init(approval: UUID, number: Int64, expiresAt: Timestamp, network: [UInt8]? = nil) {
        self.network = network
        self.approval = approval
        self.number = number
        self.expiresAt = expiresAt
    }

    /// Whether the approval was expired when the other request came.
    fileprivate func hasExpired(before other: AwaitedApproval) -> Bool {
        expiresAt.adding(seconds: Approval.patience) <= other.expiresAt
    }
}
