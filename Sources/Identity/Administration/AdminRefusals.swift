public import EventSourcing
public import Values

/// Why a request with an admin key was refused.
public enum AdminRefusalReason: String, Sendable, CaseIterable {
    /// No key has its id.
    case unknown = "unknown_key"
    case wrongSecret = "wrong_secret"
    case revoked = "revoked_key"
    /// The key is good, and does not open what was asked for.
    case outOfScope = "out_of_scope"
    /// The key is good, opens the realm, and lacks the permission.
    case notPermitted = "not_permitted"
}

/// What happens where an admin key is refused. It is about the key, and no part of its own history.
public enum AdminRefusalEvent: FormedEvent {
    case refused(key: UUID, reason: AdminRefusalReason)

    package enum Form {
        package static let refused = EventForm(
            "admin_key.refused", .audit, .administratorRefused,
            "A request with an admin key was refused.",
            .uuid("key", "Identifier of the key that the request showed."),
            .choice("reason", "Reason of the refusal."), make: AdminRefusalEvent.refused)
    }

    public static let forms: EventForms<Self> = [Form.refused]

    public var written: WrittenEvent {
        switch self {
        case .refused(let key, let reason): Form.refused(key, reason)
        }
    }
}

/// What was refused within one hour: of one key, or of all that are not known.
public struct AdminRefusals: StreamState {
    public private(set) var count = 0

    public init() {}

    public mutating func apply(_ event: AdminRefusalEvent) { count += 1 }

    /// Entries of an hour at most: a client that tries keys does not fill the log.
    public static func most(isKnown: Bool) -> Int { isKnown ? 10 : 60 }

    /// One stream for each known key, so that made-up keys cannot hide what is done with a real
    /// one.
    public static func stream(of key: UUID, isKnown: Bool, at now: Timestamp) -> UUID {
        let hour = UInt64(bitPattern: now.seconds / 3600)
        let unknown = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0011_0000)
        let name = isKnown ? key : unknown
        return UUID(high: name.high, low: name.low ^ hour << 20 ^ 0x6b72)
    }
}
