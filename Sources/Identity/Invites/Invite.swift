public import EventSourcing
public import Values

/// An invite to a realm or to one of its apps. Its stream follows from its code under the realm's
/// key, so that it is found without a look-up, and the code cannot be read from it.
public struct Invite: StreamState {
    /// Nil before the invite was created.
    public private(set) var terms: InviteTerms?
    /// The mailbox that used the invite.
    public private(set) var mailbox: UUID?
    public private(set) var usedAt: Timestamp?
    public private(set) var isRevoked = false

    public init() {}

    public mutating func apply(_ event: InviteEvent) {
        switch event {
        case .created(let terms): self.terms = terms
        case .used(let mailbox, let at):
            self.mailbox = mailbox
            usedAt = at
        case .revoked: isRevoked = true
        }
    }

    /// Whether the invite admits a person with this mailbox: the first one to use it has it.
    func admits(_ mailbox: UUID, to app: UUID?, at now: Timestamp) -> Bool {
        guard let terms, !isRevoked, usedAt == nil, now < terms.expiresAt else { return false }
        return terms.isFor(app) && (terms.mailbox ?? mailbox) == mailbox
    }
}

/// What an invite is good for.
public struct InviteTerms: Sendable, Equatable {
    /// Nil: everything in the realm that asks for an invite.
    public let app: UUID?
    /// The mailbox it is for. Nil: its bearer's.
    public let mailbox: UUID?
    public let expiresAt: Timestamp

    public init(app: UUID?, mailbox: UUID?, expiresAt: Timestamp) {
        self.app = app
        self.mailbox = mailbox
        self.expiresAt = expiresAt
    }

    func isFor(_ app: UUID?) -> Bool { self.app == nil || self.app == app }
}
