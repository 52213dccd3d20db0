public import EventSourcing
public import JSON
import Postgres
public import Values

/// What a realm as of a moment can be asked for in lists.
public enum AsOfList: String, CaseIterable, Sendable {
    case accounts, sessions, clients, passkeys

    /// What a row is found by.
    var key: String {
        switch self {
        case .accounts: "account"
        case .sessions: "session"
        case .clients: "client"
        case .passkeys: "passkey"
        }
    }

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
            'session', a.session, 'account', a.account, 'client', a.terms::json ->> 'client',
            'client_id', a.terms::json ->> 'client_id', 'app', a.terms::json ->> 'app',
            'method', a.terms::json ->> 'method', 'opened_at', \(time("a.opened_at")),
            'refreshed_at', \(time("a.refreshed_at")), 'generation', a.generation,
            'end_reason', a.ended
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
        }
    }

    private func time(_ column: String) -> String {
        #"to_char(\#(column) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#
    }
}

extension AsOfBuildStore {
    public struct Item: Sendable {
        public let id: UUID
        public let members: JSONObject

        public init(id: UUID, members: JSONObject) {
            self.id = id
            self.members = members
        }
    }

    /// A page in the order of ids.
    /// - Parameters:
    ///   - account: only what is of this account.
    /// - Returns: nil where the build is not kept any more.
    public func items(
        _ list: AsOfList, of build: AsOfBuild, account: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [Item]? {
        // The name is made of an id alone.
        let statement = """
            select a.\(list.key), json_strip_nulls(json_build_object(\(list.members)))::text
            from \(build.schema).\(list.rawValue) a
            where a.realm = $1 and a.\(list.key) > $2
                \(account == nil ? "" : "and a.account = $4")
            order by a.\(list.key) limit $3
            """
        return try await asking { connection throws(Failure) in
            var parameters = Parameters(in: build.realm, after: after, limit: limit)
            if let account { parameters.add(account) }
            do throws(Failure) {
                let rows = try connection.executeOnce(statement, parameters)
                return (0..<rows.count).map { row in
                    Item(id: rows.identifier(row, 0), members: rows.object(row, 1) ?? [:])
                }
            } catch {
                // There is no such schema, or no such table in it.
                guard ["3F000", "42P01"].contains(error.code) else { throw error }
                return nil
            }
        }
    }
}
