public import JSON
public import Values

/// One security event of CAEP or RISC that an event of the log amounts to. How its subject is named to
/// a receiver, and in which token it is sent, is the transmitter's.
public struct Signal: Sendable, Equatable {
    public let kind: SignalKind
    /// The claims that the type has of its own: the common ones follow from the members below.
    public let claims: JSONObject
    public let subject: SignalSubject
    public let initiator: SignalInitiator
    /// What an administrator is told (`reason_admin`): never empty, without personal data.
    public let reason: String
    /// When it happened (`event_timestamp`).
    public let at: Timestamp
    /// Whether a receiver is sent it only where its stream asks for it.
    public let isOnRequest: Bool
}

/// What a signal is about: of several, the session or the device of the user.
public struct SignalSubject: Sendable, Equatable {
    /// The account. Nil where neither the event nor the caller knows it, and for a client's own session.
    public let user: UUID?
    /// The session's stream, which `sid` names. Nil where all sessions of the user are meant.
    public let session: UUID?
    /// The stream of the client that is the device.
    public let device: UUID?

    /// Signals of one lane are told in the order in which they happened.
    public var lane: UUID? { user ?? device }

    public init(user: UUID?, session: UUID?, device: UUID?) {
        self.user = user
        self.session = session
        self.device = device
    }
}

/// Who brought a signal about (`initiating_entity`).
public enum SignalInitiator: String, Sendable {
    case admin
    case user
    case policy
    case system

    /// - Parameter reason: the event's own.
    public init(actor: String, reason: String?) {
        let ends = [SessionEnd.reuse, .codeReuse].map(\.rawValue)
        self =
            if reason.map(ends.contains) == true || actor == FindingRules.actor {
                .policy
            } else if actor.hasPrefix("admin:") || actor.hasPrefix("operator:") {
                .admin
            } else if actor.hasPrefix("user:") {
                .user
            } else {
                .system
            }
    }
}
