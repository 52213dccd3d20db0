public import EventSourcing
internal import Postgres
public import Values

/// A host and the realm that it leads to.
public struct HostView: Sendable, Equatable {
    public var host: String
    public var realm: RealmID
    public var assignedAt: Timestamp

    public init(host: String, realm: RealmID, assignedAt: Timestamp) {
        self.host = host
        self.realm = realm
        self.assignedAt = assignedAt
    }

    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let realm = RealmID(rows.text(row, 2)) else { return nil }
        self.init(host: rows.text(row, 1), realm: realm, assignedAt: rows.instant(row, 3))
    }
}

extension HostView {
    private static let columns = Columns(
        of: "hosts", key: "host", "m.leads_to, m.assigned_at", Self.init(_:_:))
    /// By the name that it was assigned under, in any realm.
    public static let byName: Question<String, HostView?> = columns.find(
        "host_by_name", where: "m.host = $2"
    ).first { Parameters(in: .system, $1) }
    /// The hosts of a realm in the order of their names.
    public static let page: Question<(after: String?, limit: Int), ListPage<HostView>> =
        columns.page("host_page", where: "m.leads_to = $2 and m.host > $3", limit: "$4").page {
            var parameters = Parameters(in: .system, $0.name, $1.after ?? "")
            parameters.add(Int64($1.limit))
            return parameters
        }
}
