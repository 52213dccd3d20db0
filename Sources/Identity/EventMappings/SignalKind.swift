/// A type of security event of CAEP 1.0 or RISC 1.0 that Urd sends. Those that it never sends are not
/// here: identifiers belong to the mail provider, and there is nothing to opt out of.
public enum SignalKind: String, CaseIterable, Sendable {
    case sessionRevoked = "session-revoked"
    case tokenClaimsChange = "token-claims-change"
    case credentialChange = "credential-change"
    case assuranceLevelChange = "assurance-level-change"
    case deviceComplianceChange = "device-compliance-change"
    case sessionEstablished = "session-established"
    case sessionPresented = "session-presented"
    case riskLevelChange = "risk-level-change"
    case accountPurged = "account-purged"
    case accountDisabled = "account-disabled"
    case accountEnabled = "account-enabled"
    case recoveryActivated = "recovery-activated"
    case recoveryInformationChanged = "recovery-information-changed"

    public enum Standard: String, Sendable {
        /// The OpenID Continuous Access Evaluation Profile.
        case caep
        /// The OpenID RISC Profile.
        case risc
    }

    public var standard: Standard {
        switch self {
        case .sessionRevoked, .tokenClaimsChange, .credentialChange, .assuranceLevelChange,
            .deviceComplianceChange, .sessionEstablished, .sessionPresented, .riskLevelChange:
            .caep
        case .accountPurged, .accountDisabled, .accountEnabled, .recoveryActivated,
            .recoveryInformationChanged:
            .risc
        }
    }

    /// What names it in `events` of a security event token and in `events_requested` of a stream.
    public var uri: String {
        "https://schemas.openid.net/secevent/\(standard.rawValue)/event-type/\(rawValue)"
    }

    public init?(uri: String) {
        guard let kind = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
        self = kind
    }
}
