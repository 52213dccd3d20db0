public import EventSourcing
public import ReadModels
public import Values

/// What the admin API reads. Everything but the audit trail is as fresh as the log itself; a list
/// is given in the order of its cursor, from behind `after` on, at most `limit` of it.
public protocol AdminQueries: AccountQueries, WebAppQueries, DeviceQueries,
    EventIndexQueries, SubscriptionQueries, FindingQueries
{
    /// Decides who gets in: must never lag, and must throw rather than answer from an old copy.
    func adminKey(_ id: UUID) async throws(LogFailure) -> AdminKeyView?

    func adminKeys(after: UUID?, limit: Int) async throws(LogFailure) -> ListPage<AdminKeyView>

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView?

    func realms(after: String?, limit: Int) async throws(LogFailure) -> ListPage<RealmView>

    func hosts(
        of realm: RealmID, after: String?, limit: Int
    ) async throws(LogFailure) -> ListPage<HostView>

    func app(_ app: UUID, in realm: RealmID) async throws(LogFailure) -> AppView?

    func apps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<AppView>

    func webApps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<WebAppView>

    /// By the name that it goes by in OAuth. Deleted clients are not found.
    func client(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> ClientView?

    func clients(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<ClientView>

    /// Those that belong to an app, in the order of their ids.
    func clients(
        ofApp app: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [ClientView]

    /// Of one app, or all.
    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<InviteView>

    func registrationTokens(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<RegistrationTokenView>

    /// From behind a position on, in the order that is asked for. It follows the log at a distance.
    func auditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> [AuditEntry]

    /// The same with a filter, which may have to stop before the end.
    func filteredAuditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> ScannedPage<AuditEntry, Int64>

    /// The login history with a filter, which may have to stop before the end.
    func filteredLoginHistory(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int
    ) async throws(LogFailure) -> ScannedPage<LoginView, LoginPlace>

    /// How many sign-ins of those that are selected there are of each kind, from behind a place on.
    func loginCounts(
        of realm: RealmID, _ selection: LoginSelection, by group: LoginGroup,
        after place: LoginPlace?
    ) async throws(LogFailure) -> ScannedPage<LoginCount, LoginPlace>
}
