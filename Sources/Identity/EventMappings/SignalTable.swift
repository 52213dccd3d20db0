internal import EventSourcing

/// CAEP 1.0 and RISC 1.0: what each event amounts to, by its meaning. An account's erasure is no signal: its deletion is
/// `account-purged`. A refused attestation is none: it leaves a certification as it is.
public enum SignalTable {
    public static func rules(for type: String) -> [SignalRule] { rules[type] ?? [] }

    /// By the types of events.
    public static let rules: [String: [SignalRule]] = EventCatalogue.meanings.mapValues(rules)

    private static let allSessions = SignalRule(.sessionRevoked)
    private static let recoveryChanged = SignalRule(.recoveryInformationChanged)

    private static func rules(of meaning: EventMeaning) -> [SignalRule] {
        switch meaning {
        case .signedIn(let place): signIn(place)
        case .sessionEnded(.browser): [SignalRule(.sessionRevoked, .unlessReplaced, of: .session)]
        case .sessionEnded(.client): [SignalRule(.sessionRevoked, of: .session)]
        case .sessionRefreshed: [SignalRule(.sessionPresented, of: .session, onRequest: true)]
        case .linkMailed: [SignalRule(.recoveryActivated, .forPassphraseReset)]
        case .secretSet(.passphrase), .secretSet(.derivedPassphrase): [.credential(.password, .set)]
        case .secretRemoved(.passphrase): [.credential(.password, .delete)]
        case .recoveryCodesRenewed: [.credential(.recoveryCode, .update, onRequest: true)]
        case .factorAdded(let factor): credential(factor, .create)
        case .factorRemoved(let factor): credential(factor, .delete)
        case .accountDisabled, .deletionScheduled: [SignalRule(.accountDisabled), allSessions]
        case .accountEnabled, .deletionCancelled: [SignalRule(.accountEnabled)]
        case .accountDeleted: [SignalRule(.accountPurged), allSessions]
        case .accessRemoved, .deviceRemoved: [SignalRule(.sessionRevoked, of: .device)]
        case .stampRotated: [allSessions]
        case .rolesChanged: [.newClaims("resource_access")]
        case .personChanged:
            [.newClaims("email", "family_name", "given_name", "locale", "name", "phone_number")]
        case .mailboxChanged: [recoveryChanged, allSessions, .newClaims("email", "email_verified")]
        case .mailboxMoved: [recoveryChanged, .newClaims("email")]
        case .recoveryChanged: [recoveryChanged]
        case .recoveryRequested: [SignalRule(.recoveryActivated)]
        case .deviceCertified:
            [SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: true))]
        case .certificationRevoked:
            [SignalRule(.deviceComplianceChange, of: .device, .compliance(isNow: false))]
        // Of findings about accounts: receivers know no networks and no administrators.
        case .findingRaised, .findingEscalated, .findingClosed:
            [SignalRule(.riskLevelChange, .ifRiskDiffers, of: .user, .risk)]
        case .detail, .signInRefused, .administratorRefused, .step, .secondFactorAsked, .codeMailed,
            .secretSet, .secretRemoved, .secretRefused, .secretUsed, .passkeyRefused,
            .passkeyRenamed, .mailedCodesChanged, .registered, .accountErased, .ownerAppointed,
            .consentGiven, .consentWithdrawn, .accountChanged, .deviceAdded, .administration,
            .realmSettingsChanged, .disclosed, .caseFileIssued, .findingRulesSet, .object:
            []
        }
    }

    private static func signIn(_ place: SessionPlace) -> [SignalRule] {
        switch place {
        case .browser:
            [
                SignalRule(.sessionEstablished, of: .session, .authentication),
                SignalRule(.assuranceLevelChange, .ifLevelDiffers, of: .session, .assuranceLevel),
            ]
        case .client:
            [SignalRule(.sessionEstablished, .ofAnAccount, of: .session, .authentication)]
        }
    }

    private static func credential(
        _ factor: SignInFactor, _ change: CredentialChange
    ) -> [SignalRule] {
        switch factor {
        case .passkey: [.credential(.passkey, change)]
        case .authenticator: [.credential(.app, change)]
        case .deviceKey: []
        }
    }
}
