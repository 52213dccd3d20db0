internal import EventSourcing
public import Identity
internal import JSON
internal import Postgres
public import Values

/// A subscription, without its secrets.
public struct SubscriptionView: Sendable, Equatable {
    public var id: UUID
    public var kind: Subscription.Kind
    /// Without the values of the headers.
    public var terms: SubscriptionTerms
    public var headerNames: [String]
    public var standing: Subscription.Standing
    public var createdAt: Timestamp
    public var changedAt: Timestamp
    public var version: Int
    /// Which of its kind's places in the realm it has; nil for one from before places were numbered.
    public var slot: Int?

    public init(
        id: UUID, kind: Subscription.Kind = .webhook, terms: SubscriptionTerms,
        headerNames: [String] = [], standing: Subscription.Standing, createdAt: Timestamp,
        changedAt: Timestamp, version: Int, slot: Int? = nil
    ) {
        self.id = id
        self.kind = kind
        self.terms = terms
        self.headerNames = headerNames
        self.standing = standing
        self.createdAt = createdAt
        self.changedAt = changedAt
        self.version = version
        self.slot = slot
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let kind = Subscription.Kind(rawValue: rows.text(row, 2)),
            let fields = rows.object(row, 3),
            let terms = SubscriptionTerms(open: fields),
            let standing = Subscription.Standing(
                rows.text(row, 4), reason: rows.isNull(row, 5) ? nil : rows.text(row, 5))
        else { return nil }
        self.init(
            id: rows.identifier(row, 1), kind: kind, terms: terms,
            headerNames: (fields["header_names"]?.array ?? []).compactMap(\.string),
            standing: standing, createdAt: rows.instant(row, 6), changedAt: rows.instant(row, 7),
            version: rows.integer(row, 8), slot: rows.optionalInteger(row, 9))
    }
}

extension Subscription.Standing {
    fileprivate init?(_ state: String, reason: String?) {
        switch state {
        case "active": self = .active
        case "paused": self = .paused
        case "deleted": self = .deleted
        case "disabled":
            guard let reason = reason.flatMap(Subscription.DisableReason.init) else { return nil }
            self = .disabled(reason)
        default: return nil
        }
    }
}

/// Deleted subscriptions are not found.
extension SubscriptionView {
    private static let columns = Columns(
        of: "subscriptions", key: "subscription",
        "m.kind, m.terms, m.state, m.reason, m.created_at, m.changed_at, m.version, m.slot",
        Self.init(_:_:))
    public static let byID: Question<UUID, SubscriptionView?> = columns.find(
        "subscription_by_id", where: "m.subscription = $2 and m.state <> 'deleted'"
    ).first(Parameters.init)
    public static let page = columns.page(
        "subscription_page", where: "m.subscription > $2 and m.state <> 'deleted'"
    ).page()

    public static func page(of kind: Subscription.Kind) -> PageQuestion<SubscriptionView> {
        PageQuestion("\(kind.rawValue)_page") { models, realm, page throws(LogFailure) in
            var parameters = Parameters(in: realm, after: page.after, limit: page.limit)
            parameters.add(kind.rawValue)
            return try await models.list(ofKind, parameters)
        }
    }

    private static let ofKind = columns.page(
        "subscription_page_of_kind",
        where: "m.subscription > $2 and m.kind = $4 and m.state <> 'deleted'")
}
