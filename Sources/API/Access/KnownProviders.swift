internal import EventSourcing
internal import Identity
internal import ReadModels
internal import Values

/// What pages say of an OpenID provider of the realm.
struct ProviderLabel: Sendable, Equatable {
    /// Ours, for addresses.
    let slug: String
    /// The display name of the provider.
    let name: String
}

/// The OpenID providers of each realm, as pages offer them, kept until something of the realm's configuration is
/// changed. Whom a browser is led to is read anew.
struct KnownProviders: Sendable {
    private let events: any EventLog
    private let revision: TokenKeys.Revision
    private let known = RevisionCache<RealmID, [ProviderLabel]>(capacity: 4_096)

    init(_ events: any EventLog, revision: @escaping TokenKeys.Revision) {
        self.events = events
        self.revision = revision
    }

    func all(in realm: RealmID) async throws(LogFailure) -> [ProviderLabel] {
        if let found = known.known(realm, at: revision(realm)) { return found }
        let (events, revision) = (events, revision)
        return try await known.value(
            of: realm, at: { revision(realm) },
            read: { () throws(LogFailure) in
                var providers = Providers()
                for event in try await events.stream(Providers.stream, after: 0, in: realm) {
                    guard let event = ProviderEvent(event) else { throw .damaged }
                    providers.apply(event)
                }
                return providers.all.map { ProviderLabel(slug: $0.slug, name: $0.name) }
            })
    }
}
