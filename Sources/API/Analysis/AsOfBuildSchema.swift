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
        "account", in: .query, Fields.id, "Account whose rows are listed.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let rows: Schema = .integer(0...1_000_000_000_000)

    static let shape = Shape<AsOfBuild>(
        "AsOfBuild",
        .required("id", "Build id.", \.id, example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a31"),
        .required(
            "state", .oneOf(AsOfBuild.State.allCases.map(\.rawValue)),
            "State of the build; a finished build is kept for an hour.", \.state.rawValue,
            example: "waiting"),
        .required(
            "moment", .text(1...40), "Requested moment, in the words of the request.", \.moment,
            example: "2026-11-22T12:00:00Z"),
        .required(
            "position", .integer(0...281_474_976_710_655),
            "Last position that is part of the build; 0 for an empty log.", \.position,
            example: 48_211),
        .optional(
            "at", "Time of the event at the position.", \.at, example: "2026-11-22T11:59:58.123456Z"
        ),
        .required(
            "epoch", .integer(0...999_999_999), "Epoch of the log at the time of the request.",
            { Int64($0.epoch) }, example: 1),
        .required(
            "reached", .integer(0...281_474_976_710_655), "Progress, from 0 to the position.",
            \.reached, example: 0),
        .required(
            "asker", .text(1...300), "Actor that requested the build.", \.asker,
            example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
        .required(
            "asked_at", "Time of the request.", \.askedAt, example: "2026-11-23T01:23:45.123456Z"),
        .optional(
            "schema", .text(43...43),
            "Database schema with the views for analysts of the realm, while the "
                + "build is ready.", { $0.state == .ready ? $0.schema : nil }),
        .optional(
            "rows", .map(of: rows), "Number of rows by read model, while the build is ready.",
            { build in
                build.state == .ready
                    ? JSONObject(build.counts.map { ($0.projection, .integer($0.rows)) }) : nil
            }),
        .optional(
            "expires_at", "Time until which the build is kept.",
            { $0.state == .ready ? $0.expiresAt : nil }),
        .optional(
            "fault", .oneOf(AsOfBuild.Fault.allCases.map(\.rawValue)),
            "Fault for which the build failed.", \.fault?.rawValue),
        .optional(
            "missing", .integer(1...281_474_976_710_655),
            "Position of the first missing event, in a damaged log.", \.hole),
        .optional(
            "finished_at", "Time at which the build was ready, failed or was cancelled.",
            \.finishedAt))
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
                .required("account", Fields.id, "Account id."),
                .required("confirmed", .boolean, "Whether the address was verified."),
                .required("disabled", .boolean, "Whether the account was disabled."),
                .required("has_mailbox", .boolean, "Whether the account had an address."),
                .required(
                    "has_second_address", .boolean,
                    "Whether the account had a phone number beside a mail address."),
                .optional("deletion_due", Fields.time, "Time of the scheduled deletion."),
                .optional("registered_at", Fields.time, "Registration time."),
                .required("changed_at", Fields.time, "Time of the last change."),
            ]
        case .sessions:
            [
                .required("session", Fields.id, "Session id."),
                .optional("account", Fields.id, "Account of the session."),
                .optional("client", Fields.id, "Stream id of the session's client."),
                .optional("client_id", .text(0...255), "OAuth client id."),
                .optional(
                    "app", Fields.id, "App of the realm for which the session was opened, if any."),
                .optional(
                    "method", .text(1...255),
                    "Grant type, or sign-in method where no grant opened the session."),
                .required("opened_at", Fields.time, "Time at which the session was opened."),
                .optional("refreshed_at", Fields.time, "Time of the last token refresh."),
                .required("generation", .integer(0...2_147_483_647), "Number of token refreshes."),
                .optional(
                    "end_reason", .text(1...50),
                    "Reason for which the session ended before its expiry, alone or with its "
                        + "account."),
                .optional(
                    "ended_at", Fields.time, "Time at which the session ended before its expiry."),
                .required("expires_at", Fields.time, "Expiry time of the session."),
            ]
        case .clients:
            [
                .required("client", Fields.id, "Stream id of the client."),
                .required("client_id", .text(0...255), "OAuth client id."),
                .optional("name", .text(0...300), "Display name of the client."),
                .required("disabled", .boolean, "Whether the client was disabled."),
                .optional("registered_at", Fields.time, "Registration time."),
                .required("changed_at", Fields.time, "Time of the last change."),
            ]
        case .passkeys:
            [
                .required("passkey", Fields.id, "Passkey id."),
                .required("account", Fields.id, "Account of the passkey."),
                .required("enrolled_at", Fields.time, "Enrolment time."),
                .optional("used_at", Fields.time, "Time of the last use."),
            ]
        case .credentials:
            [
                .required(
                    "kind",
                    .oneOf([
                        "passkey", "passphrase", "authenticator_app", "recovery_codes", "provider",
                        "app_key", "app_pin",
                    ]), "Kind of credential."),
                .required("credential", Fields.id, "Credential id."),
                .optional("account", Fields.id, "Account of the credential."),
                .optional("client", Fields.id, "Client or tenant of the credential."),
                .optional("provider", .text(1...255), "Provider of the identity."),
                .optional("created_at", Fields.time, "Creation time."),
                .optional("used_at", Fields.time, "Time of the last use."),
                .optional("removed_at", Fields.time, "Removal time."),
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
