public import EventSourcing
public import Identity
public import ReadModels
public import Values

/// What signing in reads, each answer as fresh as the log itself.
public protocol RealmQueries: SessionQueries, BrowserQueries, WebAppQueries, SignalQueries,
    RequestSequences
{
    /// The session of a request that is signed by its key, and whose sequence number is used up by that, on all nodes. Nil:
    /// the signature is missing, or that number or a higher one was used up before.
    func line(
        of session: UUID, signing sequence: Int64, in realm: RealmID,
        isRight: @escaping @Sendable (SessionView) -> Bool
    ) async throws(LogFailure) -> SessionLine?

    /// By the name that it goes by in OAuth. Deleted clients are not found.
    func knownClient(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient?

    /// In the order of their ids, from behind one on.
    func clients(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<ClientView>

    /// The streams of a realm's installations, in the order in which they were made.
    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID]

    /// Of one app, or all.
    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<InviteView>

    /// By the stream of the two. Withdrawn consents are not found.
    func consent(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> ConsentView?

    func consents(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [ConsentView]

    /// The device keys and PINs of a person within the apps of tenants.
    func appMethods(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [AppMethodView]

    /// What holds in an app: its own settings where it has some, else the realm's. Nil where there
    /// is no realm.
    func settings(
        ofApp app: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Settings?

    /// By the stream of its address.
    func account(mailbox: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView?

    /// A page of accounts behind skipped ones, the newest first.
    func newestAccounts(
        in realm: RealmID, behind skipped: Int, limit: Int
    ) async throws(LogFailure) -> [AccountView]

    /// By the id that its authenticator gave it, in any account. Removed passkeys are not found.
    func passkey(
        ofCredential credential: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> PasskeyView?

    /// The passkeys of an account, the newest first.
    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView]

    /// Begins the query of the passkeys now; the answer is awaited later.
    func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]>
}

extension RealmQueries {
    /// For those that have no replay guard.
    public func line(
        of session: UUID, signing sequence: Int64, in realm: RealmID,
        isRight: @escaping @Sendable (SessionView) -> Bool
    ) async throws(LogFailure) -> SessionLine? {
        throw .unavailable
    }

    /// The default for a port that answers at once.
    public func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]> {
        { () throws(LogFailure) in try await passkeys(of: account, in: realm) }
    }
}
