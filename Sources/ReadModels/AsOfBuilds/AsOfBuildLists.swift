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
            'session', a.session, 'account', a.account, 'client', a.terms::json ->> 'client',
            'client_id', a.terms::json ->> 'client_id', 'app', a.terms::json ->> 'app',
            'method', a.terms::json ->> 'method', 'opened_at', \(time("a.opened_at")),
            'refreshed_at', \(time("a.refreshed_at")), 'generation', a.generation,
            'end_reason', e.reason, 'ended_at', \(time("e.at")),
            'expires_at', \(time("to_timestamp((a.terms::json ->> 'expires_at')::bigint)"))
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

    /// Joins to the list's rows: of sessions, what ended each first, as `sessions_v1` says it (decision 0148).
    fileprivate func beside(in schema: String) -> String {
        guard self == .sessions else { return "" }
        return """
            cross join lateral json_to_record(a.terms::json) as t (
                client uuid, stamp bigint, moves bigint, amr jsonb, exchanged uuid,
                opener_session uuid, opener_client uuid, federated_device uuid, removals bigint,
                browser uuid, offline boolean)
            left join \(schema).accounts o on o.realm = a.realm and o.account = a.account
            left join \(schema).clients c on c.realm = a.realm and c.client = t.client
            left join \(schema).clients oc
                on oc.realm = a.realm and oc.client = t.opener_client
            left join lateral (
                select x.reason, x.at from (
                    select a.ended, a.ended_at where a.ended is not null
                    union all (
                        select n.reason, n.at from urd.account_ends n
                        where a.account is not null and coalesce(o.stamp > t.stamp, true)
                            and n.realm = a.realm and n.account = a.account and n.stamp = t.stamp
                        limit 1)
                    union all (\(Self.removal))
                    union all (
                        select 'mailbox_changed', m.at from urd.event m
                        where coalesce(t.moves, 0) < o.moves and t.amr <@ '["otp", "mail"]'
                            and t.amr <> '[]' and m.realm = a.realm and m.stream = a.account
                            and m.type = 'account.mailbox_moved'
                        order by m.version offset coalesce(t.moves, 0) limit 1)
                    union all (
                        select 'client_deleted', d.at from urd.event d
                        where c.client is null and d.realm = a.realm and d.stream = t.client
                            and d.type = 'client.deleted' limit 1)
                    union all (
                        select 'client_deleted', d.at from urd.event d
                        where t.opener_client is not null and oc.client is null
                            and d.realm = a.realm and d.stream = t.opener_client
                            and d.type = 'client.deleted' limit 1)
                    union all (
                        with recursive origin as (
                            select i.terms::json, i.ended, i.ended_at, 1 as depth
                            from \(schema).sessions i
                            where i.realm = a.realm
                                and i.session = coalesce(t.exchanged, t.opener_session)
                            union all
                            select i.terms::json, i.ended, i.ended_at, g.depth + 1
                            from origin g join \(schema).sessions i on i.realm = a.realm
                                and i.session = coalesce(
                                    g.terms ->> 'exchanged', g.terms ->> 'opener_session')::uuid
                            where g.depth < 10
                        )
                        select 'exchanged_' || g.ended, g.ended_at from origin g
                        where coalesce(t.exchanged, t.opener_session) is not null
                            and g.ended is not null
                        order by g.ended_at limit 1)
                ) x (reason, at)
                order by x.reason = 'lapsed', x.at limit 1) e on true
            """
    }

    /// The first removal of access that a session ended by.
    private static let removal = """
        select case when n.data ->> 'client' is not null then 'withdrawn'
                when n.data ->> 'browser' is not null then 'logged_out'
                else 'revoked' end,
            n.at
        from urd.event n
        where coalesce(greatest(
                (o.removed ->> t.client::text)::bigint,
                (o.removed ->> t.federated_device::text)::bigint,
                (o.removed ->> concat(
                    case when t.offline then 'offline ' end, t.browser))::bigint), 0)
                > coalesce(t.removals, 0)
            and n.realm = a.realm and n.stream = a.account
            and n.type = 'account.access_removed'
            and (n.data ->> 'removals')::bigint > coalesce(t.removals, 0)
            and coalesce(n.data ->> 'client', n.data ->> 'federated_device', concat(
                    case when n.data ->> 'offline' = 'true' then 'offline ' end,
                    n.data ->> 'browser'))
                in (t.client::text, t.federated_device::text,
                    concat(case when t.offline then 'offline ' end, t.browser))
        order by n.version limit 1
        """

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
            from \(build.schema).\(list.rawValue) a \(list.beside(in: build.schema))
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
