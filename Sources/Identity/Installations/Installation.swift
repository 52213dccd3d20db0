internal import EventSourcing
public import Values

/// An app on one device of a realm's owner, which registered itself: a client of a realm of the flagship
/// profile. See `docs/decisions/0070-flagship-profile.md`.
public enum Installation {
    /// Seconds after which one is nobody of which no token or code came.
    public static let patience: Int64 = 3_600

    public static let scope = "*"

    /// The grant that makes a client an installation.
    static let grants = [GrantType.flagship]

    /// Two of one owner don't have the same name.
    static func nameClaim(_ name: String) -> Claim { Claim("installation_name", name) }
}

extension ClientMetadata {
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
    /// It has waited too long for somebody to let it in. Its stream's name says since when it is there.
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
