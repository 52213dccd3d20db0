internal import EventSourcing
public import Identity
public import JSON
internal import Postgres
public import Values

/// An OAuth client, as its administrators see it.
public struct ClientView: Sendable, Equatable {
    /// The client's stream.
    public var id: UUID
    public var clientID: String
    /// Under the names of RFC 7591, without the personal members; `vouched_for` is for the log.
    public var metadata: JSONObject
    /// Nil for a client without a secret.
    public var secret: SecretDigest?
    public var isDisabled: Bool
    public var issuedAt: Timestamp

    public init(
        id: UUID, clientID: String, metadata: JSONObject, secret: SecretDigest? = nil,
        isDisabled: Bool, issuedAt: Timestamp
    ) {
        self.id = id
        self.clientID = clientID
        self.metadata = metadata
        self.secret = secret
        self.isDisabled = isDisabled
        self.issuedAt = issuedAt
    }

    private init?(_ rows: Rows, _ row: Int) {
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
            secret: secret, isDisabled: rows.bool(row, 5), issuedAt: rows.instant(row, 6))
    }
}

/// An OAuth client, as its own requests need it.
public struct KnownClient: Sendable, Equatable {
    /// The client's stream.
    public var id: UUID
    /// Without the personal members.
    public var metadata: ClientMetadata
    public var secret: SecretDigest?
    public var isDisabled: Bool

    public init(id: UUID, metadata: ClientMetadata, secret: SecretDigest?, isDisabled: Bool) {
        self.id = id
        self.metadata = metadata
        self.secret = secret
        self.isDisabled = isDisabled
    }
}

/// Deleted clients are not found.
extension KnownClient {
    /// By the name that it goes by in OAuth.
    public static let byClientID = Question<String, KnownClient?>("known_client") {
        models, realm, clientID throws(LogFailure) in
        guard let found = try await models.ask(ClientView.byClientID, clientID, in: realm) else {
            return nil
        }
        guard let metadata = ClientMetadata(recorded: found.metadata) else { throw .damaged }
        return KnownClient(
            id: found.id, metadata: metadata, secret: found.secret, isDisabled: found.isDisabled)
    }
}

extension ClientView {
    /// By the name that it goes by in OAuth.
    public static let byClientID = Question<String, ClientView?>("client_by_name") {
        models, realm, clientID throws(LogFailure) in
        // No text of the database holds this, and one such name would spoil a query of many.
        guard !clientID.utf8.contains(0) else { return nil }
        return try await models.find(clientID, by: models.clientsByName, in: realm)
    }
    public static let page = columns.page("client_page").page()
    /// Those that belong to an app, in the order of their ids.
    public static let ofApp: Question<(app: UUID, limit: Int), [ClientView]> = columns.page(
        "client_page_by_app", where: "(m.metadata ->> 'app_id')::uuid = $2"
    ).all {
        var parameters = Parameters(in: $0, $1.app)
        parameters.add(Int64($1.limit))
        return parameters
    }
    /// The installations of a realm, in the order in which they were made.
    public static let installations: Question<Void, [ClientView]> = columns.page(
        "client_page_by_grant", where: "m.metadata -> 'grant_types' ? $2"
    ).all { realm, _ in
        var parameters = Parameters(in: realm, GrantType.flagship.rawValue)
        parameters.add(Int64(1_000))
        return parameters
    }

    private static let columns = Columns(
        of: "clients", key: "client",
        "m.client_id, m.metadata::text, m.secret_digest, m.disabled, m.registered_at",
        Self.init(_:_:))
    static let ofNames = columns.find("client_by_name", where: "m.client_id = any ($2)")
}
