public import EventSourcing
public import Identity
public import JSON
public import Postgres
public import Values

/// The OAuth clients of a realm, as fresh as the log.
public struct Clients: Sendable {
    public struct Entry: Sendable, Equatable {
        /// The client's stream.
        public let id: UUID
        public let clientID: String
        /// Under its RFC 7591 names, without the personal members.
        public let metadata: JSONObject
        /// Nil where it has none.
        public let secret: SecretDigest?
        public let isDisabled: Bool
        public let registeredAt: Timestamp
        public let changedAt: Timestamp
        /// Of the client's stream.
        public let version: Int
    }

    private let database: Database
    private let byName: LookUp<String, Entry>

    public init(_ database: Database) {
        self.database = database
        byName = LookUp(database) { connection, realm, names in
            var parameters = Parameters(realm: realm.name)
            var array = ArrayParameter(of: .text)
            for name in names { array.append(name) }
            parameters.add(array)
            return CurrentRows.read(
                finding, parameters, over: connection, key: { $0.text($1, 2) }, Entry.init)
        }
    }

    /// By the name that it goes by in OAuth. Deleted clients are not found.
    public func find(
        _ clientID: String, in realm: RealmID
    ) async throws(ReadFailure) -> Entry? {
        // No text of the database holds this, and one such name would spoil a query of many.
        guard !clientID.utf8.contains(0) else { return nil }
        return try await byName.find(clientID, in: realm)
    }

    public func find(_ id: UUID, in realm: RealmID) async throws(ReadFailure) -> Entry? {
        try await CurrentRows.read(
            findingByID, Parameters(in: realm, id), from: database, Entry.init
        ).first
    }

    /// The clients with a grant, in the order of their ids.
    public func page(
        withGrant grant: String, in realm: RealmID, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(realm: realm.name)
        parameters.add(grant)
        parameters.add(Int64(limit))
        return try await CurrentRows.read(
            listingByGrant, parameters, from: database, Entry.init)
    }

    /// The clients that belong to an app, in the order of their ids.
    public func page(
        ofApp app: UUID, in realm: RealmID, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        var parameters = Parameters(in: realm, app)
        parameters.add(Int64(limit))
        return try await CurrentRows.read(listingByApp, parameters, from: database, Entry.init)
    }

    /// In the order of their ids, from behind `after` on.
    public func page(
        in realm: RealmID, after: UUID? = nil, limit: Int
    ) async throws(ReadFailure) -> [Entry] {
        try await CurrentRows.read(
            listing, Parameters(in: realm, after: after, limit: limit), from: database, Entry.init)
    }
}

extension Clients.Entry {
    fileprivate init?(_ rows: Rows, _ row: Int) {
        guard let metadata = rows.object(row, 3) else { return nil }
        var secret: SecretDigest?
        if let digest = rows.optionalText(row, 4) {
            guard let bytes = Base64URL.decode(digest), let known = SecretDigest(bytes) else {
                return nil
            }
            secret = known
        }
        self.init(
            id: rows.identifier(row, 1), clientID: rows.text(row, 2), metadata: metadata,
            secret: secret, isDisabled: rows.bool(row, 5), registeredAt: rows.instant(row, 6),
            changedAt: rows.instant(row, 7), version: Int(rows.int32(row, 8)))
    }
}

private let columns = """
    c.client, c.client_id, c.metadata::text, c.secret_digest, c.disabled, c.registered_at,
    c.changed_at, c.version
    """

private let finding = Statement(
    "client_by_name",
    """
    select a.current, \(columns)
    from urd.clients_position a
    left join urd.clients c on c.realm = $1 and c.client_id = any ($2)
    where a.realm = $1
    """)
private let findingByID = Statement(
    "client_by_id",
    """
    select a.current, \(columns)
    from urd.clients_position a
    left join urd.clients c on c.realm = $1 and c.client = $2
    where a.realm = $1
    """)
private let listing = Statement(
    "client_page",
    """
    select a.current, \(columns)
    from urd.clients_position a
    left join lateral (
        select * from urd.clients c where c.realm = $1 and c.client > $2
        order by c.client limit $3
    ) c on true
    where a.realm = $1 order by c.client
    """)
private let listingByGrant = Statement(
    "client_page_by_grant",
    """
    select a.current, \(columns)
    from urd.clients_position a
    left join lateral (
        select * from urd.clients c where c.realm = $1 and c.metadata -> 'grant_types' ? $2
        order by c.client limit $3
    ) c on true
    where a.realm = $1 order by c.client
    """)
private let listingByApp = Statement(
    "client_page_by_app",
    """
    select a.current, \(columns)
    from urd.clients_position a
    left join lateral (
        select * from urd.clients c where c.realm = $1 and (c.metadata ->> 'app_id')::uuid = $2
        order by c.client limit $3
    ) c on true
    where a.realm = $1 order by c.client
    """)
