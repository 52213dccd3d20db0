/// CAEP 1.0 and RISC 1.0: what each event type amounts to. Of a type without a row no receiver is told; the golden
/// list of the mappings names every type, so that a new one is looked at. An account's erasure has no row: its
/// deletion is `account-purged`. A refused attestation has none: it leaves a certification as it is.
public enum SignalTable {
    public static func rules(for type: String) -> [SignalRule] { rules[type] ?? [] }

    public static let rules: [String: [SignalRule]] = accounts.merging(
        signIns, uniquingKeysWith: both
    )
    .merging(credentials, uniquingKeysWith: both)

    /// A type stands in one row.
    private static func both(_ first: [SignalRule], _ second: [SignalRule]) -> [SignalRule] {
        preconditionFailure("An event type stands in one row of the table of signals.")
    }

    private static let allSessions = SignalRule(.sessionRevoked)
    /// Of findings about accounts: receivers know no networks and no administrators.
    private static let risk = SignalRule(.riskLevelChange, .ifRiskDiffers, of: .user, .risk)

    private static let accounts: [String: [SignalRule]] = [
        "account.access_removed": [SignalRule(.sessionRevoked, of: .device)],
        "account.addresses_changed": [SignalRule(.recoveryInformationChanged)],
        "account.deleted": [SignalRule(.accountPurged), allSessions],
        "account.deletion_cancelled": [SignalRule(.accountEnabled)],
        "account.deletion_scheduled": [SignalRule(.accountDisabled), allSessions],
        "account.disabled": [SignalRule(.accountDisabled), allSessions],
        "account.enabled": [SignalRule(.accountEnabled)],
        "account.mailbox_changed": [
            SignalRule(.recoveryInformationChanged), allSessions,
            .newClaims("email", "email_verified"),
        ],
        "account.mailbox_moved": [
            SignalRule(.recoveryInformationChanged), .newClaims("email"),
        ],
        "account.person_changed": [
            .newClaims("email", "family_name", "given_name", "locale", "name", "phone_number")
        ],
        "account.roles_changed": [.newClaims("resource_access")],
        "account.stamp_rotated": [allSessions],
        "client.certification_revoked": [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: false))
        ],
        "client.certified": [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: true))
        ],
        "finding.closed": [risk], "finding.escalated": [risk], "finding.raised": [risk],
        "identity.linked": [SignalRule(.recoveryInformationChanged)],
        "identity.unlinked": [SignalRule(.recoveryInformationChanged)],
        "owner.device_removed": [SignalRule(.sessionRevoked, of: .device)],
    ]

    private static let signIns: [String: [SignalRule]] = [
        "browser.ended": [SignalRule(.sessionRevoked, .unlessReplaced, of: .session)],
        "browser.opened": [
            SignalRule(.sessionEstablished, of: .session, .authentication),
            SignalRule(.assuranceLevelChange, .ifLevelDiffers, of: .session, .assuranceLevel),
        ],
        "session.ended": [SignalRule(.sessionRevoked, of: .session)],
        "session.opened": [
            SignalRule(.sessionEstablished, .ofAnAccount, of: .session, .authentication)
        ],
        "session.refreshed": [SignalRule(.sessionPresented, of: .session, onRequest: true)],
    ]

    private static let credentials: [String: [SignalRule]] = [
        "mailed_link.issued": [SignalRule(.recoveryActivated, .forPassphraseReset)],
        "passkey.enrolled": [.credential(.passkey, .create)],
        "passkey.removed": [.credential(.passkey, .delete)],
        "passphrase.derived": [.credential(.password, .set)],
        "passphrase.hint_changed": [SignalRule(.recoveryInformationChanged)],
        "passphrase.hint_requested": [SignalRule(.recoveryActivated)],
        "passphrase.removed": [.credential(.password, .delete)],
        "passphrase.set": [.credential(.password, .set)],
        "recovery_codes.renewed": [.credential(.recoveryCode, .update, onRequest: true)],
        "totp.confirmed": [.credential(.app, .create)],
        "totp.removed": [.credential(.app, .delete)],
    ]
}
