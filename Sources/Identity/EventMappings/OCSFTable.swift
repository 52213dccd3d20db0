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
        AccountEvent.Form.accessRemoved.name: [.authentication(2)],
        AccountEvent.Form.deleted.name: [.account(6)],
        AccountEvent.Form.deletionCancelled.name: [.account(2)],
        AccountEvent.Form.deletionScheduled.name: [.account(5)],
        AccountEvent.Form.disabled.name: [.account(5)],
        AccountEvent.Form.enabled.name: [.account(2)],
        AccountEvent.Form.registered.name: [.account(1)],
        AccountEvent.Form.rolesChanged.name: [
            OCSFRule(.userAccess, 1, when: .ifPrivilegesNew),
            OCSFRule(.userAccess, 2, when: .ifPrivilegesGone),
        ],
        AccountEvent.Form.stampRotated.name: [.authentication(2)],
        ConnectionEvent.Form.begun.name: [.entity(99)],
        ConnectionEvent.Form.finished.name: [.account(99)],
        ConsentEvent.Form.given.name: [OCSFRule(.userAccess, 1)],
        ConsentEvent.Form.withdrawn.name: [OCSFRule(.userAccess, 2)],
        OwnerEvent.Form.appointed.name: [OCSFRule(.userAccess, 1)],
        OwnerEvent.Form.mailedCodesChanged.name: [
            OCSFRule(.accountChange, 10, when: .ifNeeded, factor: 8),
            OCSFRule(.accountChange, 11, when: .ifNotNeeded, factor: 8),
        ],
        CaseFileEvent.Form.issued.name: [OCSFRule(.apiActivity, 2)],
        DisclosureEvent.Form.made.name: [OCSFRule(.apiActivity, 2)],
    ]

    private static let signIns: [String: [OCSFRule]] = [
        AdminRefusalEvent.Form.refused.name: [.authentication(1, .failure)],
        ApprovalEvent.Form.answered.name: [.authentication(6, .other)],
        ApprovalEvent.Form.given.name: [.authentication(6)],
        ApprovalEvent.Form.requested.name: [.authentication(6, .other)],
        AttestationEvent.Form.accepted.name: [.authentication(6)],
        AttestationEvent.Form.refused.name: [.authentication(6, .failure)],
        BrowserSessionEvent.Form.ended.name: [.authentication(2)],
        BrowserSessionEvent.Form.opened.name: [.authentication(1)],
        BrowserSessionEvent.Form.refused.name: [.authentication(1, .failure)],
        DeviceEvent.Form.approved.name: [.authentication(6)],
        DeviceEvent.Form.denied.name: [.authentication(6, .failure)],
        DeviceEvent.Form.requested.name: [.authentication(6, .other)],
        MailboxEvent.Form.linkIssued.name: [.authentication(6)],
        MailedCodeEvent.Form.issued.name: [.authentication(6)],
        MailedCodeEvent.Form.refused.name: [.authentication(6, .failure)],
        MailedLinkEvent.Form.issued.name: [
            OCSFRule(.accountChange, 4, when: .forPassphraseReset),
            OCSFRule(.authentication, 6, when: .forAnotherPurpose),
        ],
        MailboxEvent.Form.codeIssued.name: [.authentication(6)],
        MailboxEvent.Form.codeRefused.name: [.authentication(6, .failure)],
        OwnerEvent.Form.mailboxVouched.name: [.authentication(6)],
        SessionEvent.Form.detached.name: [],
        SessionEvent.Form.ended.name: [.authentication(2)],
        SessionEvent.Form.opened.name: [
            OCSFRule(.authentication, 1, when: .unlessImpersonated),
            OCSFRule(.authentication, 7, when: .ifImpersonated),
        ],
        SessionEvent.Form.refreshed.name: [OCSFRule(.authentication, 99, onRequest: true)],
        SessionEvent.Form.refused.name: [.authentication(1, .failure)],
    ]

    private static let credentials: [String: [OCSFRule]] = [
        TenantMethodEvent.Form.keyEnrolled.name: [.account(10, factor: 10)],
        TenantMethodEvent.Form.keyRemoved.name: [.account(11, factor: 10)],
        TenantMethodEvent.Form.pinRefused.name: [.authentication(6, .failure, factor: 11)],
        TenantMethodEvent.Form.pinRemoved.name: [.account(11, factor: 11)],
        TenantMethodEvent.Form.pinSet.name: [.account(3)],
        PasskeyEvent.Form.enrolled.name: [.account(10, factor: 10)],
        PasskeyEvent.Form.enrollmentRefused.name: [.account(10, .failure, factor: 10)],
        PasskeyEvent.Form.removed.name: [.account(11, factor: 10)],
        PasskeyEvent.Form.renamed.name: [.account(99, factor: 10)],
        PassphraseEvent.Form.derived.name: [.account(3)],
        PassphraseEvent.Form.hintChanged.name: [.account(99)],
        PassphraseEvent.Form.hintRequested.name: [.account(99)],
        PassphraseEvent.Form.refused.name: [.authentication(6, .failure, factor: 11)],
        PassphraseEvent.Form.removed.name: [.account(11, factor: 11)],
        PassphraseEvent.Form.set.name: [.account(3)],
        TwoFactorEvent.Form.recoveryCodeUsed.name: [.authentication(6, factor: 7)],
        TwoFactorEvent.Form.recoveryCodesRenewed.name: [.account(99)],
        TwoFactorEvent.Form.confirmed.name: [.account(10, factor: 7)],
        TwoFactorEvent.Form.refused.name: [.authentication(6, .failure, factor: 7)],
        TwoFactorEvent.Form.removed.name: [.account(11, factor: 7)],
    ]

    private static let configuration: [String: [OCSFRule]] = [
        AdminKeyEvent.Form.created.name: [.entity(1)],
        AdminKeyEvent.Form.revoked.name: [.entity(4)],
        AppEvent.Form.created.name: [.entity(1)],
        AppEvent.Form.deleted.name: [.entity(4)],
        AppEvent.Form.updated.name: [.entity(3)],
        AppKeyEvent.Form.attested.name: [.entity(6)],
        ClientEvent.Form.adopted.name: [.entity(6, .device)],
        ClientEvent.Form.certificationRevoked.name: [.entity(11, .device)],
        ClientEvent.Form.certified.name: [.entity(10, .device)],
        ClientEvent.Form.deleted.name: [.entity(4)],
        ClientEvent.Form.disabled.name: [.entity(9)],
        ClientEvent.Form.enabled.name: [.entity(8)],
        ClientEvent.Form.registered.name: [.entity(1)],
        ClientEvent.Form.secretRotated.name: [.entity(3)],
        ClientEvent.Form.updated.name: [.entity(3)],
        HostEvent.Form.assigned.name: [.entity(3)],
        HostEvent.Form.released.name: [.entity(4)],
        FindingEvent.Form.closed.name: [OCSFRule(.detectionFinding, 3, .resolved)],
        FindingEvent.Form.escalated.name: [OCSFRule(.detectionFinding, 2)],
        FindingEvent.Form.raised.name: [OCSFRule(.detectionFinding, 1)],
        FindingRulesEvent.Form.set.name: [.entity(3, .policy)],
        IntegrityKeysEvent.Form.set.name: [.entity(3)],
        InviteEvent.Form.created.name: [.entity(1)],
        InviteEvent.Form.revoked.name: [.entity(4)],
        OwnerEvent.Form.deviceAdded.name: [.entity(6, .device)],
        OwnerEvent.Form.deviceRemoved.name: [.entity(7, .device)],
        OwnerEvent.Form.onboarded.name: [.entity(6, .device)],
        ProviderEvent.Form.configured.name: [
            OCSFRule(.entityManagement, 1, when: .ifFirst),
            OCSFRule(.entityManagement, 3, when: .ifLater),
        ],
        ProviderEvent.Form.removed.name: [.entity(4)],
        MessageGatewayEvent.Form.removed.name: [.entity(4)],
        MessageGatewayEvent.Form.set.name: [.entity(3)],
        PushProviderEvent.Form.removed.name: [.entity(4)],
        PushProviderEvent.Form.set.name: [.entity(3)],
        RealmEvent.Form.created.name: [.entity(1)],
        RealmEvent.Form.disabled.name: [.entity(9)],
        RealmEvent.Form.enabled.name: [.entity(8)],
        RealmEvent.Form.settingsChanged.name: [.entity(3, .policy)],
        RealmEvent.Form.subjectErased.name: [.entity(4)],
        RegistrationTokenEvent.Form.created.name: [.entity(1)],
        RegistrationTokenEvent.Form.revoked.name: [.entity(4)],
        SigningKeyEvent.Form.activated.name: [.entity(10)],
        SigningKeyEvent.Form.published.name: [.entity(1)],
        SigningKeyEvent.Form.removed.name: [.entity(4)],
        SigningKeyEvent.Form.retired.name: [.entity(11)],
        SignalStreamEvent.Form.changed.name: [.entity(3)],
        SignalStreamEvent.Form.created.name: [.entity(1)],
        SignalStreamEvent.Form.deleted.name: [.entity(4)],
        SubscriptionEvent.Form.changed.name: [.entity(3)],
        SubscriptionEvent.Form.created.name: [.entity(1)],
        SubscriptionEvent.Form.deleted.name: [.entity(4)],
        SubscriptionEvent.Form.disabled.name: [.entity(9)],
        SubscriptionEvent.Form.secretRotated.name: [.entity(3)],
        WebAppEvent.Form.registered.name: [.entity(1)],
        WebAppEvent.Form.removed.name: [.entity(4)],
        WebAppEvent.Form.updated.name: [.entity(3)],
        // The sessions that end with it are records.
        UpstreamSessionEvent.Form.ended.name: [],
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
