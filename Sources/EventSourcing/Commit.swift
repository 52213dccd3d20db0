public import Values

/// Everything that one command wants to append, and everything that its decision relied on.
public struct Commit: Sendable, Equatable {
    public var realm: RealmID
    /// A repeat of this id gets the first outcome.
    public var command: UUID
    /// A digest of what was asked, so that one id cannot stand for two requests. The digest may be empty.
    public var digest: [UInt8]
    public var origin: Origin
    /// The version of every stream that was read; each must still hold. Streams that are written
    /// are always among them.
    public var reads: [UUID: Int]
    public var events: [NewEvent]
    public var claims: [ClaimChange]
    /// The realm's epoch when the streams were read. 0: the one that the log knows when it is asked.
    public var epoch: Int

    public init(
        realm: RealmID, command: UUID, digest: [UInt8] = [], origin: Origin,
        reads: [UUID: Int], events: [NewEvent], claims: [ClaimChange] = [], epoch: Int = 0
    ) {
        self.realm = realm
        self.command = command
        self.digest = digest
        self.origin = origin
        self.reads = reads
        self.events = events
        self.claims = claims
        self.epoch = epoch
    }
}

/// The origin of a command: actor, client, address and time.
public struct Origin: Sendable, Equatable {
    /// `admin:<key id>`, `user:<id>`, `client:<id>` or `system`.
    public var actor: String
    public var client: String?
    /// The trace that this belongs to (`traceparent`).
    public var correlation: String?
    /// Personal: sealed beside the event's own personal fields.
    public var address: String?
    public var userAgent: String?
    public var at: Timestamp

    public init(
        actor: String, client: String? = nil, correlation: String? = nil, address: String? = nil,
        userAgent: String? = nil, at: Timestamp
    ) {
        self.actor = actor
        self.client = client
        self.correlation = correlation
        self.address = address
        self.userAgent = userAgent
        self.at = at
    }
}

/// A thing that may exist only once in a realm. The value may be personal: the log keeps a keyed
/// digest of it only.
public struct Claim: Hashable, Sendable {
    public let kind: String
    public let value: String

    public init(_ kind: String, _ value: String) {
        self.kind = kind
        self.value = value
    }
}

public enum ClaimChange: Hashable, Sendable {
    case take(Claim, for: UUID)
    case release(Claim, by: UUID)

    public var claim: Claim {
        switch self {
        case .take(let claim, _), .release(let claim, _): claim
        }
    }
}

/// What the log answered.
public enum AppendOutcome: Sendable, Equatable {
    /// Appended at these positions: committed and flushed. Empty when there was nothing to append.
    case won(Positions)
    /// This command id was appended before, at these positions.
    case duplicate(Positions)
    /// The command id was used before, for another request.
    case misused
    /// A stream that was read has moved on.
    case conflict
    /// A claim is held already.
    case taken(kind: String)
}

/// A run of positions in one realm, with the epoch that they belong to.
public struct Positions: Sendable, Equatable {
    public let epoch: Int
    public let first: Int64
    public let count: Int

    public init(epoch: Int, first: Int64, count: Int) {
        self.epoch = epoch
        self.first = first
        self.count = count
    }

    public var last: Int64 { first + Int64(count) - 1 }
}
