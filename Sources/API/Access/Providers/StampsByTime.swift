internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

/// Finds the stamp that an account had when a provider signed something about its person: what was signed before all
/// sessions ended is of the stamp of before.
struct StampsByTime {
    private let commands: any CommandPort
    private let realm: RealmID

    init(_ commands: any CommandPort, in realm: RealmID) {
        self.commands = commands
        self.realm = realm
    }

    /// Nil: the identity signs no account in. Without a time, as it is now.
    func stamp(
        ofIdentity identity: UUID, at time: Timestamp?
    ) async throws(Problem) -> SecurityStamp? {
        var known = ProviderIdentity()
        for event in try await events(of: identity) {
            guard let event = ProviderIdentityEvent(event) else { throw Problem(.logDamaged) }
            known.apply(event)
        }
        guard let id = known.account else { return nil }
        var account = Account()
        for recorded in try await events(of: id) {
            if let time, recorded.at > time { break }
            guard let event = AccountEvent(recorded) else { throw Problem(.logDamaged) }
            account.apply(event)
        }
        return account.stamp
    }

    private func events(of stream: UUID) async throws(Problem) -> [Recorded] {
        try await reading { () throws(LogFailure) in
            try await commands.events.stream(stream, after: 0, in: realm)
        }
    }
}
