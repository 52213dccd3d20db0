import Cryptography
public import EventSourcing
import Postgres

/// The derive key is replaced in three steps, so that no node is ever shown a secret of a key that it does
/// not know: announced, every node accepts the new version; in use, every node makes its secrets under it;
/// retired, the older versions are destroyed (decision 0085).
extension Keyring {
    /// As many versions as may live at once: a forged token is tried under each.
    static let mostDeriveKeys = 4

    public enum DeriveKeyAnnouncement: Equatable, Sendable {
        case announced
        /// The version was announced before, and is not in use yet.
        case waiting
        /// There are as many versions as may be.
        case full
    }

    /// Gives a realm another version of its derive key, which is accepted and not in use yet. With the
    /// first of them a realm that is older than the key for names gets that key, as a copy of the derive
    /// key that all its names come from.
    public func announceDeriveKey(
        of realm: RealmID
    ) async throws(LogFailure) -> DeriveKeyAnnouncement {
        _ = try await keys(of: realm)
        return try await changeDeriveKeys(of: realm) {
            [self] rows, connection throws(Postgres.Failure) in
            let unwrapped = unwrap(rows, realm)
            guard let keys = RealmKeys(unwrapped), let derive = unwrapped[.derive],
                let newest = derive.keys.max()
            else { return nil }
            if derive.values.contains(where: \.isAnnounced) { return .waiting }
            guard derive.count < Self.mostDeriveKeys else { return .full }
            if unwrapped[.name] == nil {
                guard let copied = RealmKeys.only(derive),
                    try add(copied, realm, .name, version: 1, on: connection)
                else { return nil }
            }
            // The newest `mac` key stands for all keys: a database that lost these refuses appends.
            guard
                try add(
                    .random(32), realm, .derive, version: newest + 1, isAnnounced: true,
                    on: connection),
                try add(.random(32), realm, .mac, version: keys.macVersion + 1, on: connection)
            else { return nil }
            return .announced
        }
    }

    /// Puts the version that was announced in use: what is made from now on is made under it.
    /// - Returns: false without an announced version.
    public func adoptDeriveKey(of realm: RealmID) async throws(LogFailure) -> Bool {
        try await changeDeriveKeys(of: realm) { _, connection throws(Postgres.Failure) in
            try KeyTable.adopt(realm, on: connection) > 0
        }
    }

    /// Destroys every version but the one in use: nothing that they derived is accepted any more.
    /// - Returns: how many versions that were.
    public func retireDeriveKeys(of realm: RealmID) async throws(LogFailure) -> Int {
        try await changeDeriveKeys(of: realm) { _, connection throws(Postgres.Failure) in
            try KeyTable.retire(realm, on: connection)
        }
    }

    /// The realms that have more than one version, and for how many days: the same secret may be out there
    /// that the rotation was to end.
    public func deriveKeyOverlaps() async throws(LogFailure) -> [(realm: RealmID, days: Int)] {
        try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.overlaps(on: connection).map { (realm: $0.0, days: $0.days) }
        }
    }

    /// In one transaction, which is on disk before any caller or node hears of it. Nil, and nothing
    /// is changed, where the realm's keys cannot be read or wrapped.
    private func changeDeriveKeys<Outcome: Sendable>(
        of realm: RealmID,
        _ change:
            @escaping @Sendable ([KeyTable.Stored], Connection) throws(Postgres.Failure) -> Outcome?
    ) async throws(LogFailure) -> Outcome {
        let (rows, outcome) = try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.transaction(on: connection) { connection throws(Postgres.Failure) in
                try KeyTable.holdMaster(on: connection)
                try KeyTable.lock(realm, on: connection)
                let rows = try KeyTable.load(realm, on: connection)
                let outcome = try change(rows, connection)
                // Last, since it blocks sessions that append.
                try KeyTable.noteKeys(of: realm, on: connection)
                return (rows, outcome)
            }
        }
        forget(realm)
        guard let outcome else { throw unreadable(rows, realm) }
        return outcome
    }
}
