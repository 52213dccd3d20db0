internal import EventSourcing
public import Values

/// An app on one device of a realm's owner, which registered itself: a client of a realm of the flagship
/// profile. See decision 0035.
public enum Installation {
    /// Seconds after which an installation without a token or code expires.
    public static let patience: Int64 = 3_600

    public static let scope = "*"

    /// The name that it goes by in OAuth.
    public static func clientID(of id: UUID) -> String { Hex.encode(id.bytes) }

    /// Two of one owner don't have the same name.
    static func nameClaim(_ name: String) -> Claim { Claim("installation_name", name) }
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
