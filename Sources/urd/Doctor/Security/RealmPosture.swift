import Identity
import Values

/// What the security of a realm hangs on, as far as it was chosen.
struct RealmPosture: Sendable {
    struct Client: Sendable {
        let name: String
        let metadata: ClientMetadata
        /// Since when it has its secret; nil where it has none.
        var secretSince: Timestamp?
        /// Its name is its stream's, which Urd made.
        var isNameMade = false

        var isPublic: Bool { metadata.authenticationMethod == .none }
        var isRefreshed: Bool { metadata.grantTypes.contains(.refreshToken) }
    }

    struct Key: Sendable {
        let algorithm: String
        let since: Timestamp
    }

    /// What has a private key in it, by its name alone.
    struct DisclosedKeys: Sendable {
        var inForce: [String] = []
        var onRecord: [String] = []
    }

    let realm: String
    var settings: Identity.Settings
    /// Of its apps that have settings of their own, what holds in each, by its name.
    var apps: [String: Identity.Settings] = [:]
    /// The enabled clients.
    var clients: [Client] = []
    /// The signing keys.
    var keys: [Key] = []
    /// Passkeys whose private half was stored with the public one: the accounts that have them.
    var exposedPasskeys: [String] = []
    /// Settings and metadata with a private key in them, that hold or that only the log has yet.
    var disclosedKeys = DisclosedKeys()
    /// For how many days the derive key before the one in use has been accepted beside it.
    var deriveKeyOverlap: Int?

    /// The settings of the realm and of each app, with the name of each place.
    var places: [(name: String, settings: Identity.Settings)] {
        [("", settings)]
            + apps.sorted { $0.key < $1.key }.map { ("app \($0.key): ", $0.value) }
    }
}

/// What the whole installation adds to it.
struct InstallationPosture: Sendable {
    var smtpHost: String?
    var smtpSecurity = "starttls"
    var hasBreachedList = false
    /// Of the cookies that pages set.
    var cookies: [String] = []
}
