internal import HTTP
internal import JSON

/// How a state at a moment, and what became of it, are shown.
enum AsOfSchema {
    /// The largest number that JSON has exactly.
    private static let most: Int64 = 9_007_199_254_740_991

    static let momentMembers: [Member] = [
        .required(
            "position", .integer(0...281_474_976_710_655),
            "Up to which position of the log it is the state."),
        .optional("at", Fields.time, "When the event at the position happened."),
    ]

    private static let moment = Schema.named("AsOfMoment", .object(momentMembers))

    private static let epoch: Member = .required(
        "epoch", .integer(0...999_999_999), "The epoch that the log was in when it was asked.")

    static let roles: Schema = .map(of: .list(of: .text(1...255), 0...1000))

    static let account = Schema.named(
        "AccountAsOf",
        .object([
            .required("id", Fields.id, "The account."),
            .optional("mailbox", Fields.id, "The mailbox of its mail address, or else number."),
            .optional("phone_mailbox", Fields.id, "Of its phone number beside a mail address."),
            .required("confirmed", .boolean, "Whether its address was proved."),
            .required("enabled", .boolean, "Whether it was not disabled."),
            .required("deleted", .boolean, "Whether it was deleted."),
            .required("erased", .boolean, "Whether its person was erased."),
            .optional("deletion_due", Fields.time, "When it was to be deleted."),
            .required("roles", roles, "Its roles, by audience."),
            .required("stamp", .integer(0...most), "Sessions of an earlier stamp are over."),
            .optional(
                "access_removed", .map(of: .integer(1...most)),
                "By the stream of a client or device, or the first session of a browser (`offline` before it: of its "
                    + "sessions with offline access): the number of the last removal of access. Sessions of fewer "
                    + "`removals` are over."),
            .required(
                "moves", .integer(0...most),
                "How often it moved while sessions stayed; those of a mailbox alone did not."),
            .required(
                "proof_generation", .integer(0...most),
                "Mailed codes and links of an earlier generation are void."),
            .required("registered_at", Fields.time, "Since when it is there."),
        ]))

    static let client = Schema.named(
        "ClientAsOf",
        .object([
            .required("id", Fields.id, "The client's stream."),
            .required("client_id", .text(0...255), "Its name in OAuth."),
            .required("enabled", .boolean, "Whether it was not disabled."),
            .required("deleted", .boolean, "Whether it was deleted."),
            .required("has_secret", .boolean, "Whether it had a secret."),
            .required(
                "secret_rotations", .integer(0...most), "How often it had got another one."),
            .optional("certified_by", .text(1...50), "What an app on a device was certified by."),
            .optional("certified_at", Fields.time, "Since when."),
            .required("registered_at", Fields.time, "Since when it is there."),
            .required("metadata", .openObject, "Its metadata, without what is personal."),
        ]))

    static let session = Schema.named(
        "SessionAsOf",
        .object([
            .required("kind", .oneOf(["client", "browser"]), "Who was signed in by it."),
            .optional("account", Fields.id, "Whose it was."),
            .optional("client", Fields.id, "The stream of the client that had its tokens."),
            .optional("client_id", .text(0...255), "The client's name in OAuth."),
            .optional("browser", Fields.id, "The session of a browser that it came of."),
            .optional("offline", .boolean, "Whether it could be refreshed."),
            .optional("exchanged", Fields.id, "The session whose token it was exchanged for."),
            .optional("opener_client", Fields.id, "The installation whose web view it came of."),
            .optional("opener_session", Fields.id, "The session whose token opened that view."),
            .optional("opener_browser", Fields.id, "The browser session that was handed over."),
            .required("stamp", .integer(0...most), "The account's stamp that it needs."),
            .required(
                "moves", .integer(0...most),
                "The account's moves that it needs, where a mailbox alone was proved."),
            .optional(
                "removals", .integer(1...most),
                "How often the account had removed access, if it had."),
            .optional("federated_device", Fields.id, "The device of the federation profile."),
            .optional("scope", .text(0...4096), "What its tokens were good for, by spaces."),
            .optional("method", .text(1...255), "How it was opened."),
            .required("amr", .list(of: .text(1...50), 0...50), "By what its person signed in."),
            .optional("source", .text(1...100), "Where from, as a pseudonym of the network."),
            .optional("device", .text(1...100), "The kind of device."),
            .required("opened_at", Fields.time, "When it was opened."),
            .required("expires_at", Fields.time, "When it ends at the latest."),
            .optional("refreshed_at", Fields.time, "When a token was last refreshed."),
            .optional("generation", .integer(0...most), "The number of the newest token."),
        ]))

    static let passkey = Schema.named(
        "PasskeyAsOf",
        .object([
            .required("relying_party", .text(1...255), "The domain that it belongs to."),
            .optional("client", Fields.id, "The client that it was made in."),
            .required("model", Fields.id, "The model of its authenticator (AAGUID)."),
            .required("backup_eligible", .boolean, "Whether it may be on several devices."),
            .required("trusted", .boolean, "Whether its attestation ended at a trusted root."),
            .required("counter", .integer(0...most), "What it had counted to."),
            .required("enrolled_at", Fields.time, "When it was made."),
        ]))

    static let person: Member = .optional(
        "person",
        .nullable(
            .object([
                .optional("email", .text(1...320), "The mail address."),
                .optional("phone", .text(1...20), "The phone number."),
                .optional("first_name", .text(0...1000), "The first name."),
                .optional("last_name", .text(0...1000), "The last name."),
                .optional("external_id", .text(0...1000), "The number in other systems."),
            ])), "With `open`: what was known of the person. Null once they are erased.")

    static func answer(
        _ name: String, _ state: [Member], _ added: [Member] = [], example: JSON,
        more: JSONObject = [:]
    ) -> Answer {
        .ok(
            "The state at that moment.",
            .named(
                name,
                .object(
                    [epoch] + momentMembers + [.required("state", .object(state), "The state.")]
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
            .required("field", pointer, "Which one: a JSON Pointer into the state."),
            .optional("before", .anything, "Its value before; none: it was not there."),
            .optional("after", .anything, "Its value after; none: it is gone."),
        ]))

    static let difference = Answer.ok(
        "What changed.",
        .named(
            "AsOfDifference",
            .object([
                epoch, .required("from", moment, "The earlier moment."),
                .required("to", moment, "The later moment."),
                .required(
                    "difference", .list(of: changedField, 0...1_000_000),
                    "The fields that differ between the two states."),
                .required(
                    "changes", .list(of: change, 0...1_000_000),
                    "Event by event, also what was changed back in between."),
            ])), example: exampleDifference)

    private static let change = Schema.named(
        "AsOfChange",
        .object([
            .required("position", Fields.position, "Where the event stands in the log."),
            .required("at", Fields.time, "When it happened."),
            .required("actor", .text(0...300), "Who asked for it."),
            .optional("client", .text(0...300), "Through which client."),
            .required("type", .text(1...100), "What happened."),
            .required("stream", Fields.id, "To what it happened."),
            .required(
                "fields", .list(of: changedField, 1...1_000_000), "What it changed in the state."),
        ]))

    private static let exampleDifference: JSON = [
        "epoch": 1, "from": ["position": 40210, "at": "2026-11-21T23:59:59.000000Z"],
        "to": ["position": 48211, "at": "2026-11-22T11:59:58.123456Z"],
        "difference": [["field": "/account/enabled", "before": true, "after": false]],
        "changes": [
            [
                "position": 48100, "at": "2026-11-22T11:42:07.123456Z",
                "actor": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12", "type": "account.disabled",
                "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
                "fields": [["field": "/account/enabled", "before": true, "after": false]],
            ]
        ],
    ]
}
