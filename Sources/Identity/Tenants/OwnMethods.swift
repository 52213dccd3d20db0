public import EventSourcing
public import Values

/// What a change of a person's ways to sign in within a tenant's apps looks at.
public struct OwnMethods: RealmFacts {
    public let realm: Versioned<Realm>
    let settings: Settings
    let client: Versioned<Client>
    let account: Versioned<Account>
    let methods: Versioned<TenantMethods>

    static func read(
        _ owner: MethodOwner, app: UUID? = nil, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnMethods {
        let (realm, settings) = try await Realm.settings(of: app, from: streams)
        return OwnMethods(
            realm: realm, settings: settings,
            client: try await streams.read(Client.self, owner.client),
            account: try await streams.read(Account.self, owner.account),
            methods: try await streams.read(TenantMethods.self, owner.stream))
    }

    /// The tenant's apps and its person may go on.
    var isWelcome: Bool {
        account.isWelcome && client.aliveMetadata?.rules.isTenant == true
            && !client.state.isDisabled
    }
}

/// Whose ways to sign in they are, and within whose apps.
public struct MethodOwner: Sendable, Equatable {
    public var account: UUID
    public var client: UUID
    /// The stream id, derived from account and client.
    public var stream: UUID

    public init(account: UUID, client: UUID, stream: UUID) {
        self.account = account
        self.client = client
        self.stream = stream
    }
}

/// Why a sign-in method stays unchanged.
public enum TenantMethodRejection: Error, Equatable, Sendable {
    /// The account or the tenant may not go on.
    case notWelcome
    case signInTooOld(limit: Int64)
    /// The key is enrolled already.
    case keyTaken
    case tooMany
    case notEnrolled
    /// There is a PIN, and a new one needs it.
    case pinNeeded
    /// After too many wrong PINs: it has to be reset.
    case pinLocked
    case wrongPIN
}
