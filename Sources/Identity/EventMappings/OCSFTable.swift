internal import EventSourcing

/// OCSF 1.8.0: what each event type becomes. A type without a row becomes what is usual for its kind; the golden
/// list of the mappings names every type, so that a new one is looked at. Another version of the schema is
/// another table.
public enum OCSFTable {
    public static let version = "1.8.0"

    public static func rules(for type: String) -> [OCSFRule] { rules[type] ?? usual[type] ?? [] }

    public static let rules: [String: [OCSFRule]] =
        accounts.merging(signIns, uniquingKeysWith: both)
        .merging(credentials, uniquingKeysWith: both)
        .merging(configuration, uniquingKeysWith: both)

    private static func both(_ first: [OCSFRule], _ second: [OCSFRule]) -> [OCSFRule] {
        preconditionFailure("An event type stands in one row of the table of OCSF.")
    }

    private static let accounts: [String: [OCSFRule]] = [
        "account.access_removed": [.authentication(2)],
        "account.deleted": [.account(6)],
        "account.deletion_cancelled": [.account(2)],
        "account.deletion_scheduled": [.account(5)],
        "account.disabled": [.account(5)],
        "account.enabled": [.account(2)],
        "account.registered": [.account(1)],
        "account.roles_changed": [
            OCSFRule(.userAccess, 1, when: .ifPrivilegesNew),
            OCSFRule(.userAccess, 2, when: .ifPrivilegesGone),
        ],
        "account.stamp_rotated": [.authentication(2)],
        "connection.begun": [.entity(99)],
        "connection.finished": [.account(99)],
        "consent.given": [OCSFRule(.userAccess, 1)],
        "consent.withdrawn": [OCSFRule(.userAccess, 2)],
        "owner.appointed": [OCSFRule(.userAccess, 1)],
        "owner.mailed_codes_changed": [
            OCSFRule(.accountChange, 10, when: .ifNeeded, factor: 8),
            OCSFRule(.accountChange, 11, when: .ifNotNeeded, factor: 8),
        ],
        "case_file.issued": [OCSFRule(.apiActivity, 2)],
        "personal_data.opened": [OCSFRule(.apiActivity, 2)],
    ]

    private static let signIns: [String: [OCSFRule]] = [
        "admin_key.refused": [.authentication(1, .failure)],
        "approval.answered": [.authentication(6, .other)],
        "approval.given": [.authentication(6)],
        "approval.requested": [.authentication(6, .other)],
        "attestation.accepted": [.authentication(6)],
        "attestation.refused": [.authentication(6, .failure)],
        "browser.ended": [.authentication(2)],
        "browser.opened": [.authentication(1)],
        "browser.refused": [.authentication(1, .failure)],
        "device.approved": [.authentication(6)],
        "device.denied": [.authentication(6, .failure)],
        "device.requested": [.authentication(6, .other)],
        "link.issued": [.authentication(6)],
        "mailed_code.issued": [.authentication(6)],
        "mailed_code.refused": [.authentication(6, .failure)],
        "mailed_link.issued": [
            OCSFRule(.accountChange, 4, when: .forPassphraseReset),
            OCSFRule(.authentication, 6, when: .forAnotherPurpose),
        ],
        "otp.issued": [.authentication(6)],
        "otp.refused": [.authentication(6, .failure)],
        "owner.mailbox_vouched": [.authentication(6)],
        "session.detached": [],
        "session.ended": [.authentication(2)],
        "session.opened": [
            OCSFRule(.authentication, 1, when: .unlessImpersonated),
            OCSFRule(.authentication, 7, when: .ifImpersonated),
        ],
        "session.refreshed": [OCSFRule(.authentication, 99, onRequest: true)],
        "session.refused": [.authentication(1, .failure)],
    ]

    private static let credentials: [String: [OCSFRule]] = [
        "app_method.key_enrolled": [.account(10, factor: 10)],
        "app_method.key_removed": [.account(11, factor: 10)],
        "app_method.pin_refused": [.authentication(6, .failure, factor: 11)],
        "app_method.pin_removed": [.account(11, factor: 11)],
        "app_method.pin_set": [.account(3)],
        "passkey.enrolled": [.account(10, factor: 10)],
        "passkey.enrollment_refused": [.account(10, .failure, factor: 10)],
        "passkey.removed": [.account(11, factor: 10)],
        "passkey.renamed": [.account(99, factor: 10)],
        "passphrase.derived": [.account(3)],
        "passphrase.hint_changed": [.account(99)],
        "passphrase.hint_requested": [.account(99)],
        "passphrase.refused": [.authentication(6, .failure, factor: 11)],
        "passphrase.removed": [.account(11, factor: 11)],
        "passphrase.set": [.account(3)],
        "recovery_code.used": [.authentication(6, factor: 7)],
        "recovery_codes.renewed": [.account(99)],
        "totp.confirmed": [.account(10, factor: 7)],
        "totp.refused": [.authentication(6, .failure, factor: 7)],
        "totp.removed": [.account(11, factor: 7)],
    ]

    private static let configuration: [String: [OCSFRule]] = [
        "admin_key.created": [.entity(1)],
        "admin_key.revoked": [.entity(4)],
        "app.created": [.entity(1)],
        "app.deleted": [.entity(4)],
        "app.updated": [.entity(3)],
        "app_key.attested": [.entity(6)],
        "client.adopted": [.entity(6, .device)],
        "client.certification_revoked": [.entity(11, .device)],
        "client.certified": [.entity(10, .device)],
        "client.deleted": [.entity(4)],
        "client.disabled": [.entity(9)],
        "client.enabled": [.entity(8)],
        "client.registered": [.entity(1)],
        "client.secret_rotated": [.entity(3)],
        "client.updated": [.entity(3)],
        "host.assigned": [.entity(3)],
        "host.released": [.entity(4)],
        "finding.closed": [OCSFRule(.detectionFinding, 3, .resolved)],
        "finding.escalated": [OCSFRule(.detectionFinding, 2)],
        "finding.raised": [OCSFRule(.detectionFinding, 1)],
        "finding_rules.set": [.entity(3, .policy)],
        "integrity_keys.set": [.entity(3)],
        "invite.created": [.entity(1)],
        "invite.revoked": [.entity(4)],
        "owner.device_added": [.entity(6, .device)],
        "owner.device_removed": [.entity(7, .device)],
        "owner.onboarded": [.entity(6, .device)],
        "provider.configured": [
            OCSFRule(.entityManagement, 1, when: .ifFirst),
            OCSFRule(.entityManagement, 3, when: .ifLater),
        ],
        "provider.removed": [.entity(4)],
        "message_gateway.removed": [.entity(4)],
        "message_gateway.set": [.entity(3)],
        "push_provider.removed": [.entity(4)],
        "push_provider.set": [.entity(3)],
        "realm.created": [.entity(1)],
        "realm.disabled": [.entity(9)],
        "realm.enabled": [.entity(8)],
        "realm.settings_changed": [.entity(3, .policy)],
        "realm.subject_erased": [.entity(4)],
        "registration_token.created": [.entity(1)],
        "registration_token.revoked": [.entity(4)],
        "signing_key.activated": [.entity(10)],
        "signing_key.published": [.entity(1)],
        "signing_key.removed": [.entity(4)],
        "signing_key.retired": [.entity(11)],
        "ssf_stream.changed": [.entity(3)],
        "ssf_stream.created": [.entity(1)],
        "ssf_stream.deleted": [.entity(4)],
        "subscription.changed": [.entity(3)],
        "subscription.created": [.entity(1)],
        "subscription.deleted": [.entity(4)],
        "subscription.disabled": [.entity(9)],
        "subscription.secret_rotated": [.entity(3)],
        "web_app.registered": [.entity(1)],
        "web_app.removed": [.entity(4)],
        "web_app.updated": [.entity(3)],
        // The sessions that end with it are records.
        "upstream_session.ended": [],
    ]

    /// Of a type without a row: nothing where it is how other things are done, otherwise that something
    /// else was done to an account or to another entity.
    private static let usual: [String: [OCSFRule]] = Dictionary(
        EventCatalogue.newest.map { ($0.name, usual($0)) }, uniquingKeysWith: { $1 })

    private static func usual(_ shape: EventShape) -> [OCSFRule] {
        if shape.reach == .internal { return [] }
        let isOfAccount = ["account.", "account_identity.", "identity.", "owner."]
            .contains { shape.name.hasPrefix($0) }
        return isOfAccount ? [.account(99)] : [.entity(99)]
    }
}
