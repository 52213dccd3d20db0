internal import EventSourcing
public import Values

/// An app on one device of a realm's owner, which registered itself: a client of a realm of the flagship
/// profile. See decision 0035.
public enum Installation {
    /// Seconds after which an installation without a token or code expires.
    public static let patience: Int64 = 3_600

    public static let scope = "*"

    /// The grant that makes a client an installation.
    static let grants = [GrantType.flagship]

    /// Two of one owner don't have the same name.
    static func nameClaim(_ name: String) -> Claim { Claim("installation_name", name) }
}

extension ClientMetadata.Members {
    public var isInstallation: Bool { grantTypes == Installation.grants }
}

extension Versioned<Client> {
    /// What it said of itself, while it is an installation that may be spoken with.
    func installation(at now: Timestamp) -> ClientMetadata? {
        guard let metadata = aliveMetadata, metadata.isInstallation, !state.isDisabled else {
            return nil
        }
        return state.isLapsed(stream, at: now) ? nil : metadata
    }
}

extension Client {
    /// The installation expired before the owner let it in. Its stream's name holds the time of its
    /// registration.
    public func isLapsed(_ stream: UUID, at now: Timestamp) -> Bool {
        guard metadata?.isInstallation == true, !isAdopted, let registered = stream.timestamp else {
            return false
        }
        return now >= registered.adding(seconds: Installation.patience)
    }
}

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

extension Versioned<Client> {
    /// Of a device that is in and was not certified before.
    func certificationNotice(_ owner: Versioned<Owner>, mail: UUID?) -> CertificationNotice? {
        guard let mail, let account = owner.state.account, state.isAdopted,
            state.certification == nil
        else { return nil }
        return CertificationNotice(
            account: account, clientName: state.metadata?.clientName ?? "", mail: mail)
    }
}
