public import EventSourcing
public import Identity
public import Values

/// What the admin API reads of the people of a realm. Accounts and sessions are as fresh as the log;
/// mails and the login history follow it at a distance.
public protocol AccountQueries: SessionQueries, BrowserQueries {
    func account(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView?

    func account(mailbox: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView?

    func accounts(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [AccountView]

    /// Newest first.
    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView]

    func mails(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [MailView]

    func notifications(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [NotificationView]

    /// Waits, for a bounded time, until a following list holds everything up to a position.
    func reaches(
        _ list: FollowingList, _ position: Int64, epoch: Int, of realm: RealmID
    ) async throws(LogFailure) -> Reached
}

public protocol SessionQueries: Sendable {
    /// Where an account is signed in, newest first, from behind `after` on.
    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [OpenSessionView]
}

public enum FollowingList: Sendable {
    case mails
    case notifications
    case loginHistory
}

public struct AccountView: Sendable, Equatable {
    public var id: UUID
    /// The stream of its mail address.
    public var mailbox: UUID
    public var isConfirmed: Bool
    public var isDisabled: Bool
    public var deletionDue: Timestamp?
    public var registeredAt: Timestamp
    public var changedAt: Timestamp

    public init(
        id: UUID, mailbox: UUID, isConfirmed: Bool, isDisabled: Bool, deletionDue: Timestamp?,
        registeredAt: Timestamp, changedAt: Timestamp
    ) {
        self.id = id
        self.mailbox = mailbox
        self.isConfirmed = isConfirmed
        self.isDisabled = isDisabled
        self.deletionDue = deletionDue
        self.registeredAt = registeredAt
        self.changedAt = changedAt
    }
}

public struct OpenSessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: SessionTerms
    /// The name of the app that it was opened for.
    public var app: String?
    public var openedAt: Timestamp
    public var lastUsedAt: Timestamp

    public init(
        id: UUID, terms: SessionTerms, app: String?, openedAt: Timestamp, lastUsedAt: Timestamp
    ) {
        self.id = id
        self.terms = terms
        self.app = app
        self.openedAt = openedAt
        self.lastUsedAt = lastUsedAt
    }
}

public struct MailView: Sendable, Equatable {
    public var id: UUID
    /// The event that asks for it, and where it stands.
    public var kind: String
    public var position: Int64
    public var hasFailed: Bool
    public var attempts: Int
    /// When it is tried next, or was given up.
    public var dueAt: Timestamp
    public var code: Int?
    public var reason: MailFault?

    public init(
        id: UUID, kind: String, position: Int64, hasFailed: Bool, attempts: Int,
        dueAt: Timestamp, code: Int?, reason: MailFault?
    ) {
        self.id = id
        self.kind = kind
        self.position = position
        self.hasFailed = hasFailed
        self.attempts = attempts
        self.dueAt = dueAt
        self.code = code
        self.reason = reason
    }
}
