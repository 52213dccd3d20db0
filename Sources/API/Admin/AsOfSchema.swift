internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON

/// How a state at a moment, and what became of it, are shown.
enum AsOfSchema {
    /// The largest number that JSON has exactly.
    private static let most: Int64 = 9_007_199_254_740_991

    static let momentMembers: [Member] = [
        .required(
            "position", .integer(0...281_474_976_710_655),
            "Last position of the log that is part of the state."),
        .optional("at", Fields.time, "Time of the event at the position."),
    ]

    private static let moment = Schema.named("AsOfMoment", .object(momentMembers))

    private static let epoch: Member = .required(
        "epoch", .integer(0...999_999_999), "Epoch of the log at the time of the request.")

    static let roles: Schema = .map(of: .list(of: .text(1...255), 0...1000))

    static let account = Schema.named(
        "AccountAsOf",
        .object([
            .required("id", Fields.id, "Account id."),
            .optional(
                "mailbox", Fields.id,
                "Pseudonym of the mail address, or of the phone number if there was no "
                    + "mail address."),
            .optional(
                "phone_mailbox", Fields.id, "Pseudonym of the phone number beside a mail address."),
            .required("confirmed", .boolean, "Whether the address was verified."),
            .required("enabled", .boolean, "Whether the account was enabled."),
            .required("deleted", .boolean, "Whether the account was deleted."),
            .required("erased", .boolean, "Whether the personal data was erased."),
            .optional("deletion_due", Fields.time, "Time of the scheduled deletion."),
            .required("roles", roles, "Roles of the account, by audience."),
            .required(
                "stamp", .integer(0...most),
                "Security stamp of the account: sessions with an earlier stamp have ended."),
            .optional(
                "access_removed", .map(of: .integer(1...most)),
                "Number of the last removal of access, by the stream of a client or "
                    + "device, or by the first session of a browser (with `offline` in front, "
                    + "its sessions with offline access). Sessions with fewer `removals` have "
                    + "ended."),
            .required(
                "moves", .integer(0...most),
                "Number of address changes that kept sessions; sessions for a mailbox "
                    + "alone ended."),
            .required(
                "proof_generation", .integer(0...most),
                "Generation of mailed codes and links: those of an earlier generation are "
                    + "void."),
            .required("registered_at", Fields.time, "Registration time."),
        ]))

    static let client = Schema.named(
        "ClientAsOf",
        .object([
            .required("id", Fields.id, "Stream id of the client."),
            .required("client_id", .text(0...255), "OAuth client id."),
            .required("enabled", .boolean, "Whether the client was enabled."),
            .required("deleted", .boolean, "Whether the client was deleted."),
            .required("has_secret", .boolean, "Whether the client had a secret."),
            .required(
                "secret_rotations", .integer(0...most), "Number of rotations of the client secret."),
            .optional(
                "certified_by", .text(1...50),
                "Evidence that certified an app on a device: an attestation service, or a mailed code."
            ),
            .optional("certified_at", Fields.time, "Certification time."),
            .required("registered_at", Fields.time, "Registration time."),
            .required("metadata", .openObject, "Metadata of the client, without personal data."),
        ]))

    static let session = Schema.named(
        "SessionAsOf",
        .object([
            .required(
                "kind", .oneOf(["client", "browser"]),
                "Kind of session: of an OAuth client, or of a browser at the realm's pages."),
            .optional("account", Fields.id, "Id of the session's account."),
            .optional("client", Fields.id, "Stream id of the client that held the tokens."),
            .optional("client_id", .text(0...255), "OAuth client id."),
            .optional(
                "browser", Fields.id, "Id of the browser session that the session was opened from."),
            .optional(
                "offline", .boolean,
                "Whether the session had offline access: its tokens could be refreshed."),
            .optional(
                "exchanged", Fields.id, "Id of the session whose token was exchanged (RFC 8693)."),
            .optional(
                "opener_client", Fields.id,
                "Stream id of the installation whose web view opened the session."),
            .optional(
                "opener_session", Fields.id, "Id of the session whose token opened that web view."),
            .optional(
                "opener_browser", Fields.id, "Id of the browser session that was handed over."),
            .required(
                "stamp", .integer(0...most), "Security stamp of the account that the session needs."
            ),
            .required(
                "moves", .integer(0...most),
                "Number of address changes that the session needs, if it proved a mailbox "
                    + "alone."),
            .optional(
                "removals", .integer(1...most),
                "Number of removals of access when the session was opened."),
            .optional(
                "federated_device", Fields.id, "Stream id of the device of the federation profile."),
            .optional("scope", .text(0...4096), "Scopes of the tokens, separated by spaces."),
            .optional(
                "method", .text(1...255),
                "Grant type, or sign-in method where no grant opened the session."),
            .required(
                "amr", .list(of: .text(1...50), 0...50),
                "Authentication methods of the sign-in (RFC 8176)."),
            .optional("source", .text(1...100), "Pseudonym of the network."),
            .optional("device", .text(1...100), "Kind of device."),
            .required("opened_at", Fields.time, "Time at which the session was opened."),
            .required("expires_at", Fields.time, "Time at which the session ends at the latest."),
            .optional("refreshed_at", Fields.time, "Time of the last token refresh."),
            .optional("generation", .integer(0...most), "Number of the newest refresh token."),
        ]))

    static let passkey = Schema.named(
        "PasskeyAsOf",
        .object([
            .required(
                "relying_party", .text(1...255), "Relying party id: the domain of the passkey."),
            .optional("client", Fields.id, "Stream id of the client that enrolled the passkey."),
            .required("model", Fields.id, "Model of the authenticator (AAGUID)."),
            .required(
                "backup_eligible", .boolean,
                "Whether the passkey may be synchronised between devices (backup eligible)."),
            .required("trusted", .boolean, "Whether the attestation ended at a trusted root."),
            .required("counter", .integer(0...most), "Signature counter of the authenticator."),
            .required("enrolled_at", Fields.time, "Enrolment time."),
        ]))

    static let person: Member = .optional(
        "person",
        .nullable(
            .object([
                .optional("email", .text(1...320), "Mail address."),
                .optional("phone", .text(1...20), "Phone number."),
                .optional("first_name", .text(0...1000), "First name."),
                .optional("last_name", .text(0...1000), "Last name."),
                .optional(
                    "external_id", .text(0...1000), "Identifier of the person in other systems."),
            ])), "Personal data of the account, with `open`; null if it is erased.")

    static func answer(
        _ name: String, _ state: [Member], _ added: [Member] = [], example: JSON,
        more: JSONObject = [:]
    ) -> Answer {
        .ok(
            "The state at that moment.",
            .named(
                name,
                .object(
                    [epoch] + momentMembers + [
                        .required("state", .object(state), "State at the moment.")
                    ]
                        + added)),
            example: .object(
                more.merging([
                    "epoch": 1, "position": 48211, "at": "2026-11-22T11:59:58.123456Z",
                    "state": example,
                ]) { $1 }))
    }

    private static let pointer = Schema.text(0...4000)

    private static let changedField = Schema.named(
        "ChangedField",
        .object([
            .required("field", pointer, "JSON Pointer to the changed field in the state."),
            .optional("before", .anything, "Value before the change; left out for a new field."),
            .optional("after", .anything, "Value after the change; left out for a removed field."),
        ]))

    static let difference = Answer.ok(
        "Changes between the moments.",
        .named(
            "AsOfDifference",
            .object([
                epoch, .required("from", moment, "Earlier moment."),
                .required("to", moment, "Later moment."),
                .required(
                    "difference", .list(of: changedField, 0...1_000_000),
                    "Fields that differ between the two states."),
                .required(
                    "changes", .list(of: change, 0...1_000_000),
                    "Changes of each event, also those that were reverted in between."),
            ])), example: exampleDifference)

    private static let change = Schema.named(
        "AsOfChange",
        .object([
            .required("position", Fields.position, "Position of the event in the realm's log."),
            .required("at", Fields.time, "Time of the event."),
            .required("actor", .text(0...300), "Actor that caused the event."),
            .optional("client", .text(0...300), "Client through which the actor sent the request."),
            .required("type", .text(1...100), "Event type."),
            .required("stream", Fields.id, "Stream of the event."),
            .required(
                "fields", .list(of: changedField, 1...1_000_000),
                "Fields of the state that the event changed."),
        ]))

    private static let exampleDifference: JSON = [
        "epoch": 1, "from": ["position": 40210, "at": "2026-11-21T23:59:59.000000Z"],
        "to": ["position": 48211, "at": "2026-11-22T11:59:58.123456Z"],
        "difference": [["field": "/account/enabled", "before": true, "after": false]],
        "changes": [
            [
                "position": 48100, "at": "2026-11-22T11:42:07.123456Z",
                "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
                "type": .string(AccountEvent.Form.disabled.name),
                "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
                "fields": [["field": "/account/enabled", "before": true, "after": false]],
            ]
        ],
    ]
}
