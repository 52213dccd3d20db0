internal import EventSourcing

/// OCSF 1.8.0: what each event becomes, by its meaning. Another version of the schema is another table.
public enum OCSFTable {
    public static let version = "1.8.0"

    public static func rules(for type: String) -> [OCSFRule] { rules[type] ?? [] }

    /// By the types of events.
    private static let rules: [String: [OCSFRule]] = EventCatalogue.meanings.mapValues(rules)

    private static func rules(of meaning: EventMeaning) -> [OCSFRule] {
        switch meaning {
        case .detail: []
        case .signedIn(.browser): [.authentication(1)]
        case .signedIn(.client):
            [
                OCSFRule(.authentication, 1, when: .unlessImpersonated),
                OCSFRule(.authentication, 7, when: .ifImpersonated),
            ]
        case .signInRefused, .administratorRefused: [.authentication(1, .failure)]
        case .sessionEnded, .accessRemoved, .stampRotated: [.authentication(2)]
        case .sessionRefreshed: [OCSFRule(.authentication, 99, onRequest: true)]
        case .step(.passed), .codeMailed: [.authentication(6)]
        case .step(.refused): [.authentication(6, .failure)]
        case .step(.awaited), .secondFactorAsked: [.authentication(6, .other)]
        case .linkMailed:
            [
                OCSFRule(.accountChange, 4, when: .forPassphraseReset),
                OCSFRule(.authentication, 6, when: .forAnotherPurpose),
            ]
        case .secretSet: [.account(3)]
        case .secretRemoved(let secret): [.account(11, factor: factor(secret))]
        case .secretRefused(let secret): [.authentication(6, .failure, factor: factor(secret))]
        case .secretUsed(.recoveryCode): [.authentication(6, factor: factor(.recoveryCode))]
        // The sign-in that it is for is a record.
        case .secretUsed: []
        case .factorAdded(let added): [.account(10, factor: factor(added))]
        case .factorRemoved(let removed): [.account(11, factor: factor(removed))]
        case .passkeyRefused: [.account(10, .failure, factor: factor(.passkey))]
        case .passkeyRenamed: [.account(99, factor: factor(.passkey))]
        case .mailedCodesChanged:
            [
                OCSFRule(.accountChange, 10, when: .ifNeeded, factor: 8),
                OCSFRule(.accountChange, 11, when: .ifNotNeeded, factor: 8),
            ]
        case .registered: [.account(1)]
        case .accountEnabled, .deletionCancelled: [.account(2)]
        case .accountDisabled, .deletionScheduled: [.account(5)]
        case .accountDeleted: [.account(6)]
        case .accountErased, .personChanged, .mailboxChanged, .mailboxMoved, .recoveryChanged,
            .recoveryRequested, .recoveryCodesRenewed, .accountChanged:
            [.account(99)]
        case .rolesChanged:
            [
                OCSFRule(.userAccess, 1, when: .ifPrivilegesNew),
                OCSFRule(.userAccess, 2, when: .ifPrivilegesGone),
            ]
        case .ownerAppointed, .consentGiven: [OCSFRule(.userAccess, 1)]
        case .consentWithdrawn: [OCSFRule(.userAccess, 2)]
        case .deviceAdded: [.entity(6, .device)]
        case .deviceRemoved: [.entity(7, .device)]
        case .deviceCertified: [.entity(10, .device)]
        case .certificationRevoked: [.entity(11, .device)]
        case .realmSettingsChanged, .findingRulesSet: [.entity(3, .policy)]
        case .disclosed, .caseFileIssued: [OCSFRule(.apiActivity, 2)]
        case .findingRaised: [OCSFRule(.detectionFinding, 1)]
        case .findingEscalated: [OCSFRule(.detectionFinding, 2)]
        case .findingClosed: [OCSFRule(.detectionFinding, 3, .resolved)]
        case .administration(let change), .object(let change): entity(change)
        }
    }

    private static func entity(_ change: ObjectChange) -> [OCSFRule] {
        switch change {
        case .created: [.entity(1)]
        case .updated: [.entity(3)]
        case .removed: [.entity(4)]
        case .enrolled: [.entity(6)]
        case .enabled: [.entity(8)]
        case .disabled: [.entity(9)]
        case .activated: [.entity(10)]
        case .deactivated: [.entity(11)]
        case .other: [.entity(99)]
        case .configured:
            [
                OCSFRule(.entityManagement, 1, when: .ifFirst),
                OCSFRule(.entityManagement, 3, when: .ifLater),
            ]
        }
    }

    /// `factor_type_id`.
    private static func factor(_ secret: GuessableSecret) -> Int64 {
        switch secret {
        case .passphrase, .derivedPassphrase, .pin: 11
        case .authenticator, .recoveryCode: 7
        }
    }

    private static func factor(_ factor: SignInFactor) -> Int64 {
        switch factor {
        case .passkey, .deviceKey: 10
        case .authenticator: 7
        }
    }
}
