internal import EventSourcing
internal import Identity
internal import ReadModels

/// The clients of each realm as this process knows them, kept until something of the realm is changed.
///
/// What another node changes may be known here a moment later. So this is good only where the log has
/// the last word, as it has at the token endpoint: there every decision asserts the client that it was
/// made for. And it never is a reason to refuse: for that one asks again.
struct KnownClients: Sendable {
    private struct Key: Hashable, Sendable {
        let realm: RealmID
        let clientID: String
    }

    private let queries: any RealmQueries
    private let revision: TokenKeys.Revision
    private let known = RevisionCache<Key, KnownClient?>(capacity: 16_384)

    init(_ queries: any RealmQueries, revision: @escaping TokenKeys.Revision) {
        self.queries = queries
        self.revision = revision
    }

    /// As the log has it now.
    func fresh(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient? {
        try await queries.ask(KnownClient.byClientID, clientID, in: realm)
    }

    /// The cached client, if there is one.
    func cached(_ clientID: String, in realm: RealmID) -> KnownClient? {
        known.known(Key(realm: realm, clientID: clientID), at: revision(realm)) ?? nil
    }

    /// The client, at most a moment old.
    func recent(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient? {
        let key = Key(realm: realm, clientID: clientID)
        if let found = known.known(key, at: revision(realm)) { return found }
        let (queries, revision) = (queries, revision)
        return try await known.value(
            of: key, at: { revision(realm) },
            read: { () throws(LogFailure) in
                try await queries.ask(KnownClient.byClientID, clientID, in: realm)
            })
    }
}
