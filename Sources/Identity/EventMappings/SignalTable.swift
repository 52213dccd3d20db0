internal import EventSourcing

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
        AccountEvent.Form.accessRemoved.name: [SignalRule(.sessionRevoked, of: .device)],
        AccountEvent.Form.addressesChanged.name: [SignalRule(.recoveryInformationChanged)],
        AccountEvent.Form.deleted.name: [SignalRule(.accountPurged), allSessions],
        AccountEvent.Form.deletionCancelled.name: [SignalRule(.accountEnabled)],
        AccountEvent.Form.deletionScheduled.name: [SignalRule(.accountDisabled), allSessions],
        AccountEvent.Form.disabled.name: [SignalRule(.accountDisabled), allSessions],
        AccountEvent.Form.enabled.name: [SignalRule(.accountEnabled)],
        AccountEvent.Form.mailboxChanged.name: [
            SignalRule(.recoveryInformationChanged), allSessions,
            .newClaims("email", "email_verified"),
        ],
        AccountEvent.Form.mailboxMoved.name: [
            SignalRule(.recoveryInformationChanged), .newClaims("email"),
        ],
        AccountEvent.Form.personChanged.name: [
            .newClaims("email", "family_name", "given_name", "locale", "name", "phone_number")
        ],
        AccountEvent.Form.rolesChanged.name: [.newClaims("resource_access")],
        AccountEvent.Form.stampRotated.name: [allSessions],
        ClientEvent.Form.certificationRevoked.name: [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: false))
        ],
        ClientEvent.Form.certified.name: [
            SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: true))
        ],
        FindingEvent.Form.closed.name: [risk], FindingEvent.Form.escalated.name: [risk],
        FindingEvent.Form.raised.name: [risk],
        ProviderIdentityEvent.Form.linked.name: [SignalRule(.recoveryInformationChanged)],
        ProviderIdentityEvent.Form.unlinked.name: [SignalRule(.recoveryInformationChanged)],
        OwnerEvent.Form.deviceRemoved.name: [SignalRule(.sessionRevoked, of: .device)],
    ]

    private static let signIns: [String: [SignalRule]] = [
        BrowserSessionEvent.Form.ended.name: [
            SignalRule(.sessionRevoked, .unlessReplaced, of: .session)
        ],
        BrowserSessionEvent.Form.opened.name: [
            SignalRule(.sessionEstablished, of: .session, .authentication),
            SignalRule(.assuranceLevelChange, .ifLevelDiffers, of: .session, .assuranceLevel),
        ],
        SessionEvent.Form.ended.name: [SignalRule(.sessionRevoked, of: .session)],
        SessionEvent.Form.opened.name: [
            SignalRule(.sessionEstablished, .ofAnAccount, of: .session, .authentication)
        ],
        SessionEvent.Form.refreshed.name: [
            SignalRule(.sessionPresented, of: .session, onRequest: true)
        ],
    ]

    private static let credentials: [String: [SignalRule]] = [
        MailedLinkEvent.Form.issued.name: [SignalRule(.recoveryActivated, .forPassphraseReset)],
        PasskeyEvent.Form.enrolled.name: [.credential(.passkey, .create)],
        PasskeyEvent.Form.removed.name: [.credential(.passkey, .delete)],
        PassphraseEvent.Form.derived.name: [.credential(.password, .set)],
        PassphraseEvent.Form.hintChanged.name: [SignalRule(.recoveryInformationChanged)],
        PassphraseEvent.Form.hintRequested.name: [SignalRule(.recoveryActivated)],
        PassphraseEvent.Form.removed.name: [.credential(.password, .delete)],
        PassphraseEvent.Form.set.name: [.credential(.password, .set)],
        TwoFactorEvent.Form.recoveryCodesRenewed.name: [
            .credential(.recoveryCode, .update, onRequest: true)
        ],
        TwoFactorEvent.Form.confirmed.name: [.credential(.app, .create)],
        TwoFactorEvent.Form.removed.name: [.credential(.app, .delete)],
    ]
}
