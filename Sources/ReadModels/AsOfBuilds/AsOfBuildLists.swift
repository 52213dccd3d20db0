public import EventSourcing
public import JSON
import Postgres
public import Values

/// What a realm as of a moment can be asked for in lists.
public enum AsOfList: String, CaseIterable, Sendable {
    case accounts, sessions, clients, passkeys, credentials

    /// What a row is found by.
    var key: String {
        switch self {
        case .accounts: "account"
        case .sessions: "session"
        case .clients: "client"
        case .passkeys: "passkey"
        case .credentials: "credential"
        }
    }

    /// What tells those of one key apart: an authenticator app and its recovery codes have one id.
    fileprivate var kind: String { self == .credentials ? "a.kind" : "''::text" }

    /// The columns of the view of analysts, and no others.
    fileprivate var members: String {
        switch self {
        case .accounts:
            """
            'account', a.account, 'confirmed', a.confirmed, 'disabled', a.disabled,
            'has_mailbox', a.mailbox is not null, 'has_second_address', a.phone is not null,
            'deletion_due', \(time("a.deletion_due")), 'registered_at', \(time("a.registered_at")),
            'changed_at', \(time("a.changed_at"))
            """
        case .sessions:
            """
            'session', a.session, 'account', a.account, 'client', a.client,
            'client_id', a.client_id, 'app', a.app, 'method', a.method,
            'opened_at', \(time("a.opened_at")), 'refreshed_at', \(time("a.refreshed_at")),
            'generation', a.generation, 'end_reason', a.end_reason,
            'ended_at', \(time("a.ended_at")), 'expires_at', \(time("a.expires_at"))
            """
        case .clients:
            """
            'client', a.client, 'client_id', a.client_id,
            'name', a.metadata::jsonb ->> 'client_name', 'disabled', a.disabled,
            'registered_at', \(time("a.registered_at")), 'changed_at', \(time("a.changed_at"))
            """
        case .passkeys:
            """
            'passkey', a.passkey, 'account', a.account, 'enrolled_at', \(time("a.enrolled_at")),
            'used_at', \(time("a.used_at"))
            """
        case .credentials:
            """
            'kind', a.kind, 'credential', a.credential, 'account', a.account, 'client', a.client,
            'provider', a.provider, 'created_at', \(time("a.created_at")),
            'used_at', \(time("a.used_at")), 'removed_at', \(time("a.removed_at"))
            """
        }
    }

    /// What has its rows in a build: of sessions, with what ended each first.
    fileprivate var relation: String { self == .sessions ? "session_ends" : rawValue }

    private func time(_ column: String) -> String {
        #"to_char(\#(column) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#
    }
}

/// Where a row stands in its list.
public struct AsOfPlace: Sendable, Equatable {
    let id: UUID
    let kind: String

    public init(_ id: UUID, kind: String = "") {
        self.id = id
        self.kind = kind
    }

    public init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let id = UUID(String(parts[0])) else { return nil }
        self.init(id, kind: parts.count > 1 ? String(parts[1]) : "")
    }

    public var text: String { kind.isEmpty ? id.description : "\(id) \(kind)" }
}

extension AsOfBuildStore {
    public struct Item: Sendable {
        public let place: AsOfPlace
        public let members: JSONObject

        public init(place: AsOfPlace, members: JSONObject) {
            self.place = place
            self.members = members
        }
    }

    /// A page in the order of ids.
    /// - Parameters:
    ///   - account: only what is of this account.
    /// - Returns: nil where the build is not kept any more.
    public func items(
        _ list: AsOfList, of build: AsOfBuild, account: UUID?, after: AsOfPlace?, limit: Int
    ) async throws(LogFailure) -> [Item]? {
        // The name is made of an id alone.
        let statement = """
            select a.\(list.key), \(list.kind),
                json_strip_nulls(json_build_object(\(list.members)))::text
            from \(build.schema).\(list.relation) a
            where a.realm = $1 and (a.\(list.key), \(list.kind)) > ($2, $4)
                \(account == nil ? "" : "and a.account = $5")
            order by a.\(list.key), 2 limit $3
            """
        return try await asking { connection throws(Failure) in
            var parameters = Parameters(in: build.realm, after: after?.id, limit: limit)
            parameters.add(after?.kind ?? "")
            if let account { parameters.add(account) }
            do throws(Failure) {
                let rows = try connection.executeOnce(statement, parameters)
                return (0..<rows.count).map { row in
                    Item(
                        place: AsOfPlace(rows.identifier(row, 0), kind: rows.text(row, 1)),
                        members: rows.object(row, 2) ?? [:])
                }
            } catch {
                // There is no such schema, or no such table in it.
                guard ["3F000", "42P01"].contains(error.code) else { throw error }
                return nil
            }
        }
    }
}
