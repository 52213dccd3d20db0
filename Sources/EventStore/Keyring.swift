import Cryptography
public import EventSourcing
import JSON
public import Postgres
import Synchronization
public import Telemetry
public import Values

/// Opens and makes the keys of realms and subjects. Nothing that it stores is readable without the
/// master key.
public final class Keyring: Sendable {
    private let database: Database
    private let master: MasterKey
    /// A master key that is being rotated out still opens what it wrapped.
    private let previous: [MasterKey]
    private let log: Log
    private let realms = Mutex<[RealmID: RealmKeys]>([:])
    private let loading = Mutex<[RealmID: Task<Result<RealmKeys, LogFailure>, Never>]>([:])
    private let sealing = Mutex(SubjectKeyCache())
    private let subjectKeys:
        Coalescing<
            RealmID, KeyTable.NewSubjectKey, KeyTable.SubjectKey, Connection, LogFailure
        >

    public init(
        _ database: Database, master: MasterKey, previous: [MasterKey] = [], log: Log = .silent
    ) {
        self.database = database
        self.master = master
        self.previous = previous
        self.log = log
        subjectKeys = Coalescing(database, busy: .busy, unavailable: .unavailable) {
            connection, realm, new in
            do throws(Postgres.Failure) {
                let keys = try KeyTable.subjectKeys(orInsert: new, realm, on: connection)
                return .success(keys.mapValues { .success($0) })
            } catch {
                return .failure(LogFailure(error))
            }
        }
    }

    /// The keys of a realm, made when it has none yet. Whoever asks while they are on their way waits
    /// for them, and asks no second time.
    public func keys(of realm: RealmID) async throws(LogFailure) -> RealmKeys {
        if let known = realms.withLock({ $0[realm] }) { return known }
        let coming = loading.withLock { loading in
            if let coming = loading[realm] { return coming }
            let coming = Task { [self] () -> Result<RealmKeys, LogFailure> in
                defer { self.loading.withLock { $0[realm] = nil } }
                do throws(LogFailure) {
                    return .success(try await load(realm))
                } catch {
                    return .failure(error)
                }
            }
            loading[realm] = coming
            return coming
        }
        return try await coming.value.get()
    }

    private func load(_ realm: RealmID) async throws(LogFailure) -> RealmKeys {
        let made = KeyPurpose.allCases.map { purpose in
            (purpose, try? wrap(SecretBytes.random(32), realm, purpose, version: 1))
        }
        let masterID = master.id
        let rows = try await database.tryRun { connection throws(Postgres.Failure) in
            let found = try KeyTable.load(realm, on: connection)
            guard found.isEmpty else { return found }
            // All or none: who comes second waits here and takes what the first one made.
            try connection.transaction { connection throws(Postgres.Failure) in
                try KeyTable.holdMaster(on: connection)
                for (purpose, wrapped) in made {
                    guard let wrapped else { continue }
                    try KeyTable.insert(
                        WrappedKey(
                            purpose: purpose.rawValue, version: 1, master: masterID,
                            wrapped: wrapped), realm, on: connection)
                }
            }
            return try KeyTable.load(realm, on: connection)
        }
        guard let keys = RealmKeys(unwrap(rows, realm)) else { throw unreadable(rows, realm) }
        realms.withLock { $0[realm] = keys }
        return keys
    }

    /// Why the rows that a realm has are no keys. None at all: they were not made, because the
    /// database has come to have another master key since this process started.
    private func unreadable(_ rows: [WrappedKey], _ realm: RealmID) -> LogFailure {
        guard rows.isEmpty || rows.contains(where: { !isKnown($0.master) }) else {
            return .damaged
        }
        log.error(
            "keys.other_master_key",
            [
                "realm": .string(realm.name),
                "reason": .string("\(LogFailure.otherMasterKey)"),
            ])
        return .otherMasterKey
    }

    private func isKnown(_ id: [UInt8]) -> Bool {
        ([master] + previous).contains { $0.id == id }
    }

    /// Whether the master key, or one that it takes the place of, is this database's. True as well
    /// where nothing was wrapped yet.
    public func isOfThisDatabase() async throws(LogFailure) -> Bool {
        try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.master(on: connection)
        }.map(isKnown) ?? true
    }

    /// The realms whose keys another master key wraps: this one does not open them.
    public func realmsOfOtherMasters() async throws(LogFailure) -> [RealmID] {
        let id = master.id
        let rows = try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.otherMasters(than: id, on: connection)
        }
        return Set(rows.filter { !isKnown($0.master) }.map(\.realm)).sorted()
    }

    /// The key that seals for a subject, made when it has none yet. Nil: the subject is erased.
    func sealingKey(of subject: UUID, in realm: RealmID) async throws(LogFailure) -> SecretBytes? {
        let id = SubjectKeyCache.ID(realm: realm, subject: subject)
        if let known = sealing.withLock({ $0.find(id) }) { return known }
        // Another node may rotate the realm's keys between two looks; hardly twice.
        for _ in 0..<3 {
            let keys = try await keys(of: realm)
            switch try await subjectKey(of: subject, in: realm, keys) {
            case .erased: return nil
            case .outdated: break
            case .held(let version, let wrapped):
                // A version that is not known here yet is known after another look.
                guard keys.wrapping[version] != nil else { break }
                guard let key = open(wrapped, by: version, of: subject, in: realm, keys) else {
                    throw .damaged
                }
                sealing.withLock { $0.store(key, id) }
                return key
            }
            forget(realm)
        }
        throw .contended
    }

    private func subjectKey(
        of subject: UUID, in realm: RealmID, _ keys: RealmKeys
    ) async throws(LogFailure) -> KeyTable.SubjectKey {
        let version = keys.wrappingVersion
        guard let wrapping = keys.wrapping[version],
            let wrapped = try? AESGCM.seal(
                SecretBytes.random(32).exposedCopy(), key: wrapping,
                authenticating: subjectContext(realm, subject))
        else { throw .damaged }
        let new = KeyTable.NewSubjectKey(subject: subject, version: version, wrapped: wrapped)
        return try await subjectKeys.find(new, in: realm) ?? .outdated
    }

    /// Opens a subject's wrapped key as the database has it now: an erased one must stop at once,
    /// so what opens is never cached.
    func open(
        _ wrapped: [UInt8], by version: Int, of subject: UUID, in realm: RealmID, _ keys: RealmKeys
    ) -> SecretBytes? {
        guard let wrapping = keys.wrapping[version],
            let bytes = try? AESGCM.open(
                wrapped, key: wrapping, authenticating: subjectContext(realm, subject))
        else { return nil }
        return SecretBytes(bytes)
    }

    public func standing(
        of subject: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SubjectStanding {
        if anonymousSubjects.contains(subject) { return .shared }
        let found = try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.find([subject], realm, on: connection)
        }
        return found.isEmpty ? .unknown : .own
    }

    /// Destroys a subject's key: what it sealed is gone for good, the tree still verifies.
    public func destroyKey(of subject: UUID, in realm: RealmID) async throws(LogFailure) {
        try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.destroySubjectKey(subject, realm, on: connection)
        }
        sealing.withLock { $0.forget(.init(realm: realm, subject: subject)) }
    }

    private func wrap(
        _ key: SecretBytes, _ realm: RealmID, _ purpose: KeyPurpose, version: Int
    ) throws -> [UInt8] {
        try AESGCM.seal(
            key.exposedCopy(), key: master.secret,
            authenticating: realmContext(realm, purpose.rawValue, version))
    }

    private func unwrap(
        _ rows: [WrappedKey], _ realm: RealmID
    ) -> [KeyPurpose: [Int: SecretBytes]] {
        var unwrapped: [KeyPurpose: [Int: SecretBytes]] = [:]
        for row in rows {
            guard let purpose = KeyPurpose(rawValue: row.purpose),
                let master = ([master] + previous).first(where: { $0.id == row.master }),
                let bytes = try? AESGCM.open(
                    row.wrapped, key: master.secret,
                    authenticating: realmContext(realm, row.purpose, row.version))
            else { continue }
            unwrapped[purpose, default: [:]][row.version] = SecretBytes(bytes)
        }
        return unwrapped
    }
}

// MARK: - Rotation

extension Keyring {
    /// Wraps every realm's keys anew under this keyring's master key.
    /// - Returns: how many keys changed hands.
    public func rotateMaster() async throws(LogFailure) -> Int {
        try await database.tryRun { [self] connection throws(Postgres.Failure) in
            try connection.transaction { connection throws(Postgres.Failure) in
                // Whoever makes keys meanwhile makes them after this, and finds the new one.
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
    /// every subject's key anew. The old wrapping key is destroyed, and with it whatever backups of
    /// single rows still hold.
    /// - Returns: how many subject keys were wrapped anew.
    public func rotate(_ realm: RealmID) async throws(LogFailure) -> Int {
        _ = try await keys(of: realm)
        let (rows, count) = try await database.tryRun {
            [self] connection throws(Postgres.Failure) in
            try connection.transaction { connection throws(Postgres.Failure) in
                try KeyTable.holdMaster(on: connection)
                try KeyTable.lock(realm, on: connection)
                // Read under the lock: what is known from before may be another rotation's past,
                // and a key that is not the one in the table would seal for nobody.
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
        guard let wrappedWrap = try? wrap(wrapping, realm, .wrap, version: version),
            let wrappedMac = try? wrap(SecretBytes.random(32), realm, .mac, version: version)
        else { return nil }
        for (purpose, wrapped) in [(KeyPurpose.wrap, wrappedWrap), (.mac, wrappedMac)] {
            let isIn = try KeyTable.insert(
                WrappedKey(
                    purpose: purpose.rawValue, version: version, master: master.id,
                    wrapped: wrapped), realm, on: connection)
            guard isIn else { return nil }
        }
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

    /// Another node may have rotated: what is cached is read again.
    func forget(_ realm: RealmID) {
        realms.withLock { $0[realm] = nil }
        sealing.withLock { $0.clear() }
    }
}

/// What a wrapped key is bound to, so that it opens in its own place only.
private func realmContext(_ realm: RealmID, _ purpose: String, _ version: Int) -> [UInt8] {
    Array("urd realm key/\(realm.name)/\(purpose)/\(version)".utf8)
}

private func subjectContext(_ realm: RealmID, _ subject: UUID) -> [UInt8] {
    Array("urd subject key/\(realm.name)/\(subject)".utf8)
}
