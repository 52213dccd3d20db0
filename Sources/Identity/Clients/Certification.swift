public import Values

/// What showed that an installation is the genuine app.
public enum Certification: String, CaseIterable, Sendable {
    case appAttest = "app_attest"
    case playIntegrity = "play_integrity"
    case safetyNet = "safety_net"
    /// No store: its owner typed a code that was mailed.
    case mailedCode = "mailed_code"

    public var isFromStore: Bool { self != .mailedCode }
}

/// Why an installation is not believed to be the genuine app any more.
public enum CertificationEnd: String, CaseIterable, Sendable {
    case revoked
    /// Its redirect URIs or its software changed, and the owner has not approved that.
    case metadataChanged = "metadata_changed"
}

/// Notifies a person that a device has full access from now on: not before the owner let it in,
/// since a stranger can have a genuine app that the owner did not ask for.
public struct CertificationNotice: Sendable, Equatable {
    public var account: UUID
    public var clientName: String
    public var mail: UUID

    public init(account: UUID, clientName: String, mail: UUID) {
        self.account = account
        self.clientName = clientName
        self.mail = mail
    }
}

extension ClientMetadata {
    /// The grant that makes a client an installation of the flagship app.
    static let installationGrants = [GrantType.flagship]
}

extension ClientMetadata.Members {
    public var isInstallation: Bool { grantTypes == ClientMetadata.installationGrants }
}
