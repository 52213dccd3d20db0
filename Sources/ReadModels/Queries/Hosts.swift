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

/// As fresh as the log of the system realm.
extension ReadModelQueries {
    /// The realm that a host leads to, by the name that it was assigned under.
    public func realm(ofHost host: String) async throws(LogFailure) -> RealmID? {
        try await row(byName, Parameters(in: .system, host))?.realm
    }

    /// The hosts in the order of their names.
    public func hosts(
        of realm: RealmID, after: String?, limit: Int
    ) async throws(LogFailure) -> ListPage<HostView> {
        var parameters = Parameters(in: .system, realm.name)
        parameters.add(after ?? "")
        parameters.add(Int64(limit))
        return try await list(page, parameters)
    }
}

private let columns = Columns(
    of: "hosts", key: "host", "m.leads_to, m.assigned_at", HostView.init(_:_:))
private let byName = columns.find("host_by_name", where: "m.host = $2")
private let page = columns.page(
    "host_page", where: "m.leads_to = $2 and m.host > $3", limit: "$4")
