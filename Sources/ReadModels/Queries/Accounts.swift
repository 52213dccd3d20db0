public import Identity
internal import Postgres
public import Values

/// An account, without anything of the person.
public struct AccountView: Sendable, Equatable {
    public var id: UUID
    /// The stream of its mail address, or of its phone number where it has no mail address.
    public var mailbox: UUID
    /// The stream of its phone number beside a mail address.
    public var phoneMailbox: UUID?
    public var isConfirmed: Bool
    public var isDisabled: Bool
    /// The time of the scheduled deletion, unless it is cancelled.
    public var deletionDue: Timestamp?
    public var registeredAt: Timestamp
    public var changedAt: Timestamp

    public init(
        id: UUID, mailbox: UUID, phoneMailbox: UUID? = nil, isConfirmed: Bool, isDisabled: Bool,
        deletionDue: Timestamp?, registeredAt: Timestamp, changedAt: Timestamp
    ) {
        self.phoneMailbox = phoneMailbox
        self.id = id
        self.mailbox = mailbox
        self.isConfirmed = isConfirmed
        self.isDisabled = isDisabled
        self.deletionDue = deletionDue
        self.registeredAt = registeredAt
        self.changedAt = changedAt
    }

    /// As its stream was folded: a command's answer does not wait for the read model.
    public init(
        _ id: UUID, as folded: Account, registeredAt: Timestamp, changedAt: Timestamp
    ) {
        self.init(
            id: id, mailbox: folded.mailbox ?? .zero, phoneMailbox: folded.phone,
            isConfirmed: folded.isConfirmed, isDisabled: folded.isDisabled,
            deletionDue: folded.deletionDue, registeredAt: registeredAt, changedAt: changedAt)
    }

    fileprivate init(_ rows: Rows, _ row: Int) {
        self.init(
            id: rows.identifier(row, 1), mailbox: rows.identifier(row, 2),
            phoneMailbox: rows.optionalIdentifier(row, 3), isConfirmed: rows.bool(row, 4),
            isDisabled: rows.bool(row, 5), deletionDue: rows.optionalInstant(row, 6),
            registeredAt: rows.instant(row, 7), changedAt: rows.instant(row, 8))
    }
}

extension AccountView {
    private static let columns = Columns(
        of: "accounts", key: "account",
        "m.mailbox, m.phone, m.confirmed, m.disabled, m.deletion_due, m.registered_at, m.changed_at",
        Self.init(_:_:))
    public static let byID: Question<UUID, AccountView?> = columns.find(
        "account_by_id", where: "m.account = $2"
    ).first(Parameters.init)
    /// By the stream of its address.
    public static let byMailbox: Question<UUID, AccountView?> = columns.find(
        "account_by_mailbox", where: "(m.mailbox = $2 or m.phone = $2)"
    ).first(Parameters.init)
    /// Accounts behind skipped ones, the newest first.
    public static let newest: Question<(behind: Int, limit: Int), [AccountView]> =
        columns.newest("newest_accounts", by: "registered_at").all {
            Parameters(in: $0, behind: $1.behind, limit: $1.limit)
        }
    public static let page = columns.page("account_page").page()
}
