internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How whole realms as of a moment are spoken of.
enum AsOfBuildSchema {
    static let id = Parameter(
        "build_id", in: .path, Fields.id, "The build's id.",
        example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a31")

    static let accountID = Parameter(
        "account", in: .query, Fields.id, "Only what is of this account.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let rows: Schema = .integer(0...1_000_000_000_000)

    static let schema = Schema.named(
        "AsOfBuild",
        .object([
            .required("id", Fields.id, "The build's id."),
            .required(
                "state", .oneOf(AsOfBuild.State.allCases.map(\.rawValue)),
                "How far it is; one that is ready is kept for an hour."),
            .required("moment", .text(1...40), "The moment, as it was asked for."),
            .required(
                "position", .integer(0...281_474_976_710_655),
                "The last position that is in it; 0 where nothing had happened yet."),
            .optional("at", Fields.time, "When the event at the position happened."),
            .required(
                "epoch", .integer(0...999_999_999),
                "The epoch that the log was in when it was asked."),
            .required(
                "reached", .integer(0...281_474_976_710_655),
                "How far it is, from 0 to the position."),
            .required("asker", .text(1...300), "Who asked for it."),
            .required("asked_at", Fields.time, "When it was asked for."),
            .optional(
                "schema", .text(43...43),
                "The schema in which analysts of the realm find its views, while it is ready."),
            .optional(
                "rows", .map(of: rows), "How many rows its read models have, while it is ready."),
            .optional("expires_at", Fields.time, "Until when it is kept."),
            .optional(
                "fault", .oneOf(AsOfBuild.Fault.allCases.map(\.rawValue)), "Why there is none."),
            .optional(
                "missing", .integer(1...281_474_976_710_655),
                "The first position of which the event is missing, where the log is damaged."),
            .optional("finished_at", Fields.time, "When it was ready, failed or was cancelled."),
        ]))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a31", "state": "waiting",
        "moment": "2026-11-22T12:00:00Z", "position": 48_211, "at": "2026-11-22T11:59:58.123456Z",
        "epoch": 1, "reached": 0, "asker": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "asked_at": "2026-11-23T01:23:45.123456Z",
    ]

    static func json(_ build: AsOfBuild) -> JSON {
        var members: JSONObject = [
            "id": .string(build.id.description), "state": .string(build.state.rawValue),
            "moment": .string(build.moment), "position": .integer(build.position),
            "epoch": .integer(Int64(build.epoch)), "reached": .integer(build.reached),
            "asker": .string(build.asker), "asked_at": .string(build.askedAt.description),
        ]
        members["at"] = build.at.map { .string($0.description) }
        members["fault"] = build.fault.map { .string($0.rawValue) }
        members["missing"] = build.hole.map { .integer($0) }
        members["finished_at"] = build.finishedAt.map { .string($0.description) }
        if build.state == .ready {
            members["schema"] = .string(build.schema)
            members["expires_at"] = build.expiresAt.map { .string($0.description) }
            var counts: JSONObject = [:]
            for count in build.counts { counts[count.projection] = .integer(count.rows) }
            members["rows"] = .object(counts)
        }
        return .object(members)
    }
}

// MARK: - Items

extension AsOfList {
    var operation: String {
        switch self {
        case .accounts: "listAccountsAsOf"
        case .sessions: "listSessionsAsOf"
        case .clients: "listClientsAsOf"
        case .passkeys: "listPasskeysAsOf"
        case .credentials: "listCredentialsAsOf"
        }
    }

    var schemaName: String {
        switch self {
        case .accounts: "AccountInRealmAsOf"
        case .sessions: "SessionInRealmAsOf"
        case .clients: "ClientInRealmAsOf"
        case .passkeys: "PasskeyInRealmAsOf"
        case .credentials: "CredentialInRealmAsOf"
        }
    }

    /// As the view of analysts has its columns.
    var members: [Member] {
        switch self {
        case .accounts:
            [
                .required("account", Fields.id, "The account."),
                .required("confirmed", .boolean, "Whether its address was proved."),
                .required("disabled", .boolean, "Whether its person could not sign in."),
                .required("has_mailbox", .boolean, "Whether it had an address."),
                .required(
                    "has_second_address", .boolean,
                    "Whether it had a phone number beside a mail address."),
                .optional("deletion_due", Fields.time, "When it was to be deleted."),
                .optional("registered_at", Fields.time, "When it was registered."),
                .required("changed_at", Fields.time, "When it had last changed."),
            ]
        case .sessions:
            [
                .required("session", Fields.id, "The session."),
                .optional("account", Fields.id, "Whose it was."),
                .optional("client", Fields.id, "Its client."),
                .optional("client_id", .text(0...255), "The client's name in OAuth."),
                .optional("app", Fields.id, "The app of a tenant, where one was meant."),
                .optional("method", .text(1...255), "By what it was opened."),
                .required("opened_at", Fields.time, "When it was opened."),
                .optional("refreshed_at", Fields.time, "When its tokens were last refreshed."),
                .required(
                    "generation", .integer(0...2_147_483_647),
                    "How often its tokens were refreshed."),
                .optional(
                    "end_reason", .text(1...50),
                    "Why it had ended before its time, by itself or with all of its account."),
                .optional("ended_at", Fields.time, "When it had."),
                .required("expires_at", Fields.time, "When it would end by itself."),
            ]
        case .clients:
            [
                .required("client", Fields.id, "The client's stream."),
                .required("client_id", .text(0...255), "Its name in OAuth."),
                .optional("name", .text(0...300), "What people call it."),
                .required("disabled", .boolean, "Whether it could not be used."),
                .optional("registered_at", Fields.time, "When it was registered."),
                .required("changed_at", Fields.time, "When it had last changed."),
            ]
        case .passkeys:
            [
                .required("passkey", Fields.id, "The passkey."),
                .required("account", Fields.id, "Whose it was."),
                .required("enrolled_at", Fields.time, "When it was enrolled."),
                .optional("used_at", Fields.time, "When it was last used."),
            ]
        case .credentials:
            [
                .required(
                    "kind",
                    .oneOf([
                        "passkey", "passphrase", "authenticator_app", "recovery_codes", "provider",
                        "app_key", "app_pin",
                    ]), "What it was."),
                .required("credential", Fields.id, "The credential."),
                .optional("account", Fields.id, "Whose it was."),
                .optional("client", Fields.id, "The client or tenant that it was for."),
                .optional("provider", .text(1...255), "The provider whose account it was."),
                .optional("created_at", Fields.time, "When it was set up."),
                .optional("used_at", Fields.time, "When it was last used."),
                .optional("removed_at", Fields.time, "When it had been removed."),
            ]
        }
    }

    var example: JSON {
        switch self {
        case .accounts:
            [
                "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "confirmed": true,
                "disabled": false, "has_mailbox": true, "has_second_address": false,
                "registered_at": "2026-11-21T01:23:45.123456Z",
                "changed_at": "2026-11-21T01:23:45.123456Z",
            ]
        case .sessions:
            [
                "session": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15",
                "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client_id": "phone",
                "opened_at": "2026-11-21T01:23:45.123456Z", "generation": 0,
                "expires_at": "2026-12-21T01:23:45.000000Z",
            ]
        case .clients:
            [
                "client": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client_id": "phone",
                "name": "Phone", "disabled": false,
                "registered_at": "2026-11-21T01:23:45.123456Z",
                "changed_at": "2026-11-21T01:23:45.123456Z",
            ]
        case .passkeys:
            [
                "passkey": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16",
                "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
                "enrolled_at": "2026-11-21T01:23:45.123456Z",
            ]
        case .credentials:
            [
                "kind": "authenticator_app",
                "credential": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16",
                "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
                "created_at": "2026-11-21T01:23:45.123456Z",
            ]
        }
    }
}
