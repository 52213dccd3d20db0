internal import EventSourcing

/// What a node keeps of the services of realms: which there are, and when it looks at each again.
public struct ServiceRegistry: Sendable {
    let known: KnownServices
    let crawler: ServiceCrawler

    /// - Parameters:
    ///   - revision: of a realm's configuration: what is kept holds until it moves.
    ///   - passed: the time that only goes on.
    ///   - fetch: what a service publishes at an address.
    public init(
        _ queries: any RealmQueries, revision: @escaping TokenKeys.Revision,
        passed: @escaping @Sendable () -> Duration, fetch: @escaping RemoteKeys.Fetch
    ) {
        known = KnownServices(queries, revision: revision)
        crawler = ServiceCrawler(passed: passed, fetch: fetch)
    }
}
