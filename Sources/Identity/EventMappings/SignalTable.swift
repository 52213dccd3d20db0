/// CAEP 1.0 and RISC 1.0: what each event type amounts to. Every type has a row; a test holds that.
public enum SignalTable {
    public static let rules: [String: [SignalRule]] = accounts.merging(
        signIns, uniquingKeysWith: both
    )
    .merging(credentials, uniquingKeysWith: both).merging(silent, uniquingKeysWith: both)

    /// A type stands in one row.
    private static func both(_ first: [SignalRule], _ second: [SignalRule]) -> [SignalRule] {
        preconditionFailure("An event type stands in one row of the table of signals.")
    }

    private static let allSessions = SignalRule(.sessionRevoked)

    private static let accounts: [String: [SignalRule]] = [
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
            .newClaims("email", "family_name", "given_name", "locale", "name")
        ],
        "account.roles_changed": [.newClaims("resource_access")],
        "account.stamp_rotated": [allSessions],
        "client.certification_revoked": [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: false))
        ],
        "client.certified": [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: true))
        ],
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

    /// No receiver is told of these. An account's erasure has no type: its deletion is `account-purged`.
    private static let silent: [String: [SignalRule]] = Dictionary(
        uniqueKeysWithValues: [
            "account.erased", "account.mailbox_confirmed", "account.proofs_ended",
            "account.registered", "account_identity.chosen", "account_identity.dropped",
            "admin_key.created", "admin_key.refused", "admin_key.revoked", "app.created",
            "app.deleted", "app.updated", "app_key.attested", "app_key.used",
            // Certification is another event's: a refusal leaves it as it is.
            "attestation.accepted", "attestation.refused",
            "browser.refused", "client.adopted", "client.deleted", "client.disabled",
            "client.enabled", "client.registered", "client.secret_rotated", "client.updated",
            "connection.begun", "connection.finished", "consent.given", "consent.withdrawn",
            "delegated_code.issued", "delegated_code.used", "device.approved", "device.denied",
            "device.redeemed", "device.requested", "host.assigned", "host.released",
            "installation.synchronized", "installation_upstream.bound", "integrity_keys.set",
            "invite.created", "invite.revoked", "invite.used", "link.issued", "link.redeemed",
            "log.loss_accepted", "logout_notice.deferred", "logout_notice.delivered",
            "logout_notice.failed", "mail.deferred", "mail.failed", "mail.requeued", "mail.sent",
            "mailbox.assigned", "mailbox.invited", "mailbox.released", "mailed_code.issued",
            "mailed_code.redeemed", "mailed_code.refused", "mailed_link.used",
            "notification.deferred", "notification.failed", "notification.mailed",
            "notification.pushed", "notification.requested", "notification.requeued",
            "notification.superseded", "notification_source.moved", "otp.issued", "otp.redeemed",
            "otp.refused", "otp.renamed", "owner.appointed", "owner.browser_trusted",
            "owner.device_added", "owner.invited", "owner.mailbox_vouched",
            "owner.mailed_codes_changed", "owner.move_ended", "owner.move_requested",
            "owner.onboarded", "owner.terms_signed", "passkey.enrollment_refused",
            "passkey.renamed", "passkey.used", "passphrase.refused", "passphrase.used",
            "personal_data.opened", "provider.configured", "provider.removed",
            "push_provider.removed", "push_provider.set", "pushed_request.used", "realm.created",
            "realm.disabled", "realm.enabled", "realm.settings_changed", "realm.subject_erased",
            "recovery_code.used", "registration_token.created", "registration_token.revoked",
            "registration_token.used", "session.refused", "session_code.issued",
            "session_code.used", "signing_key.activated", "signing_key.published",
            "signing_key.removed", "signing_key.retired", "totp.offered", "totp.refused",
            "totp.used", "upstream_session.ended", "upstream_session.used", "web_app.registered",
            "web_app.removed", "web_app.updated",
        ].map { ($0, []) })
}
