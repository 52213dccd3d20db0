internal import ForeignHashes
internal import Identity
internal import JSON
internal import ReadModels

/// An account as it is moved from one system to another: what an import takes, and what an export writes.
enum AccountRecordSchema {
    /// Accounts that are taken at once.
    static let mostAtOnce = 500
    static let mostIdentities = 20

    static let record = Schema.named(
        "AccountRecord",
        .object(
            .required(
                "id", .text(1...200, Names.showable(200)),
                "Name of the account in the system that it comes from."),
            .optional("email", AccountView.email, "Mail address."),
            .optional("email_verified", .boolean, "Whether that system verified it."),
            .optional("phone", AccountView.phone, "Phone number with its country code."),
            .optional("phone_verified", .boolean, "Whether that system verified it."),
            .optional("first_name", AccountView.name, "First name."),
            .optional("last_name", AccountView.name, "Last name."),
            .optional(
                "language", .text(2...35, .some(Characters("-a-zA-Z0-9"), 2...35)),
                "Language to write to the person in."),
            .optional(
                "external_id", AccountView.number,
                "Identifier of the person in other systems; `id` by default."),
            .optional("created_at", Fields.time, "Time at which it was created there."),
            .optional("enabled", .boolean, "Whether the account may sign in; it may by default."),
            .optional(
                "passphrase_hash", .text(1...ForeignHash.longest),
                "Hash of the passphrase: bcrypt, PBKDF2, scrypt, Argon2 or SHA-crypt."),
            .optional(
                "roles",
                .map(
                    of: .list(
                        of: .text(1...RealmRoles.longestName), 0...RealmRoles.mostRoles,
                        unique: true)),
                "Roles of the account, by audience."),
            .optional(
                "identities", .list(of: identity, 0...mostIdentities),
                "Identities of the person at providers."),
            .optional(
                "passkeys", .list(of: passkey, 0...Passkey.mostPerAccount),
                "Passkeys of the account."),
            .optional(
                "totp_secret", .text(16...208, .some(Characters("A-Z2-7"), 16...208)),
                "Secret of the authenticator app, in Base 32.")))

    private static let identity = Schema.object(
        .required("provider", .text(1...63), "Short name of the provider here."),
        .required("subject", .text(1...255), "Subject (`sub`) of the person at the provider."))

    private static let bytes = Characters("-_a-zA-Z0-9")

    private static let passkey = Schema.object(
        .required("relying_party", .text(1...253), "Domain that it belongs to (RP ID)."),
        .required("credential_id", .text(2...1366, .some(bytes, 2...1366)), "Credential ID."),
        .required(
            "public_key", .text(16...2048, .some(bytes, 16...2048)),
            "Public key (COSE), in base64url."),
        .optional(
            "counter", .integer(0...4_294_967_295), "Signature counter of the authenticator."),
        .optional("model", Fields.id, "Model of the authenticator (AAGUID)."),
        .optional(
            "transports", .list(of: .text(1...32), 0...8), "Transports of the authenticator."),
        .optional("backup_eligible", .boolean, "Whether it may be backed up."),
        .optional("backed_up", .boolean, "Whether it is backed up."))

    static let example: JSON = [
        "id": "auth0|5f7c8ec7c33c6c004bbafe82", "email": "ada@example.org",
        "email_verified": true, "first_name": "Ada",
        "passphrase_hash": "$2b$10$Z6hUTEEeoJXN5/AmSm/4.eZ75RYgFVriQM9LPhNEC7kbAbS/VAaJ2",
    ]

    // MARK: - What became of it

    static let outcome = Schema.named(
        "ImportedAccount",
        .object(
            .required(
                "status", .oneOf(["imported", "unchanged", "refused"]),
                "Outcome for the account; an account that was imported before is unchanged."),
            .optional("account", Fields.id, "Account id here."),
            .optional("reason", .text(1...64), "Reason of the refusal, for programs."),
            .optional("field", .text(0...200), "Member that the refusal is about."),
            .optional("detail", .text(1...500), "Reason of the refusal, in words."),
            .optional(
                "left_out", .list(of: .text(1...32), 0...200),
                "Parts of the account that were not taken, each by its kind.")))
}
