internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// A service that takes assertions: a client of the profile `federation_service`.
struct FederationService: Sendable {
    let client: KnownClient
    let clientID: String
}

/// The services of each realm as this process knows them, kept until something of the realm's configuration is
/// changed. What is decided about one of them looks at it again.
struct KnownServices: Sendable {
    private let queries: any RealmQueries
    private let revision: TokenKeys.Revision
    private let known = RevisionCache<RealmID, [FederationService]>(capacity: 1_024)

    init(_ queries: any RealmQueries, revision: @escaping TokenKeys.Revision) {
        self.queries = queries
        self.revision = revision
    }

    private static let page = 500

    func all(in realm: RealmID) async throws(LogFailure) -> [FederationService] {
        let (queries, revision) = (queries, revision)
        return try await known.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in
                var found: [FederationService] = []
                var last: UUID?
                while true {
                    let page = try await queries.ask(
                        ClientView.page, (after: last, limit: Self.page), in: realm)
                    found += page.compactMap(FederationService.init)
                    guard page.count == Self.page, let next = page.last?.id else { return found }
                    last = next
                }
            })
    }
}

extension FederationService {
    fileprivate init?(_ view: ClientView) {
        guard !view.isDisabled,
            view.metadata["profile"]?.string == ClientProfile.federationService.rawValue,
            let metadata = ClientMetadata(recorded: view.metadata)
        else { return nil }
        self.init(
            client: KnownClient(id: view.id, metadata: metadata, secret: nil, isDisabled: false),
            clientID: view.clientID)
    }
}
