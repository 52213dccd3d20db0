import Cryptography
public import EventSourcing
import Postgres
import Values

extension Keyring {
    /// Wraps every realm's keys anew under this keyring's master key.
    /// - Returns: how many keys changed hands.
    public func rotateMaster() async throws(LogFailure) -> Int {
        try await database.tryRun { [self] connection throws(Postgres.Failure) in
            try KeyTable.transaction(on: connection) { connection throws(Postgres.Failure) in
                // A session that makes keys meanwhile waits for this, and finds the new master key.
                try KeyTable.takeMaster(on: connection)
                return try wrapAnew(on: connection)
            }
        }
    }

    private func wrapAnew(on connection: Connection) throws(Postgres.Failure) -> Int {
        var changed = 0
        for (realmName, row) in try KeyTable.loadAll(notUnder: master.id, on: connection) {
            guard let realm = RealmID(realmName),
                let old = previous.first(where: { $0.id == row.master }),
                let bytes = try? AESGCM.open(
                    row.wrapped, key: old.secret,
                    authenticating: realmContext(realm, row.purpose, row.version)),
                let wrapped = try? AESGCM.seal(
                    bytes, key: master.secret,
                    authenticating: realmContext(realm, row.purpose, row.version))
            else { continue }
            try KeyTable.replace(
                WrappedKey(
                    purpose: row.purpose, version: row.version, master: master.id,
                    wrapped: wrapped), realm, on: connection)
            changed += 1
        }
        return changed
    }

    /// Gives a realm a new wrapping key and a new key for what the application writes, and wraps
    /// every subject's key anew. The old wrapping key is destroyed, and with it all that backups of
    /// single rows still hold.
    /// - Returns: how many subject keys were wrapped anew.
    public func rotate(_ realm: RealmID) async throws(LogFailure) -> Int {
        _ = try await keys(of: realm)
        let (rows, count) = try await database.tryRun {
            [self] connection throws(Postgres.Failure) in
            try KeyTable.transaction(on: connection) { connection throws(Postgres.Failure) in
                try KeyTable.holdMaster(on: connection)
                try KeyTable.lock(realm, on: connection)
                // Read under the lock: what is known from before may be another rotation's past,
                // and data sealed with a key that is not in the table could never be opened.
                let rows = try KeyTable.load(realm, on: connection)
                guard let keys = RealmKeys(unwrap(rows, realm)) else { return (rows, Int?.none) }
                return (rows, try rotate(realm, from: keys, on: connection))
            }
        }
        forget(realm)
        guard let count else { throw unreadable(rows, realm) }
        return count
    }

    /// Nil, and nothing is changed, where the realm's keys cannot be wrapped under the database's
    /// master key.
    private func rotate(
        _ realm: RealmID, from keys: RealmKeys, on connection: Connection
    ) throws(Postgres.Failure) -> Int? {
        let version = keys.wrappingVersion + 1
        let wrapping = SecretBytes.random(32)
        guard try add(wrapping, realm, .wrap, version: version, on: connection),
            try add(.random(32), realm, .mac, version: keys.macVersion + 1, on: connection)
        else { return nil }
        var count = 0
        for row in try KeyTable.subjectKeys(realm, on: connection) {
            guard let old = keys.wrapping[row.version],
                let bytes = try? AESGCM.open(
                    row.wrapped, key: old, authenticating: subjectContext(realm, row.subject)),
                let wrapped = try? AESGCM.seal(
                    bytes, key: wrapping, authenticating: subjectContext(realm, row.subject))
            else { continue }
            try KeyTable.replaceSubjectKey(
                row.subject, wrapped, by: version, realm, on: connection)
            count += 1
        }
        try KeyTable.dropUnusedWrappingKeys(realm, before: version, on: connection)
        return count
    }

    /// Puts a new key in. False, and nothing is put in, where the database has another master key.
    func add(
        _ secret: SecretBytes, _ realm: RealmID, _ purpose: KeyPurpose, version: Int,
        isAnnounced: Bool = false, on connection: Connection
    ) throws(Postgres.Failure) -> Bool {
        guard let wrapped = try? wrap(secret, realm, purpose, version: version) else {
            return false
        }
        let key = WrappedKey(
            purpose: purpose.rawValue, version: version, master: master.id, wrapped: wrapped)
        return isAnnounced
            ? try KeyTable.announce(key, realm, on: connection)
            : try KeyTable.insert(key, realm, on: connection)
    }
}
