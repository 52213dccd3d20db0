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
    let database: Database
    let master: MasterKey
    /// A master key that is being rotated out still opens what it wrapped.
    let previous: [MasterKey]
    private let log: Log
    private let cache = Mutex(KeyCache())
    private let loading = Mutex<[RealmID: Task<Result<RealmKeys, LogFailure>, Never>]>([:])
    private let subjectKeys:
        QueryCoalescing<
            RealmID, KeyTable.NewSubjectKey, KeyTable.SubjectKey, Connection, LogFailure
        >

    public init(
        _ database: Database, master: MasterKey, previous: [MasterKey] = [], log: Log = .silent
    ) {
        self.database = database
        self.master = master
        self.previous = previous
        self.log = log
        subjectKeys = QueryCoalescing(
            database, busy: .busy, unavailable: .unavailable, damaged: .damaged
        ) { connection, realm, new in
            do throws(Postgres.Failure) {
                let keys = try KeyTable.subjectKeys(orInsert: new, realm, on: connection)
                return .success(keys.mapValues { .success($0) })
            } catch {
                return .failure(LogFailure(error))
            }
        }
    }

    /// The keys of a realm, made when it has none and nothing was ever written to it. A caller that asks while
    /// they are loading waits for them, and does not load them a second time.
    public func keys(of realm: RealmID) async throws(LogFailure) -> RealmKeys {
        if let known = cache.withLock({ $0.keys(of: realm) }) { return known }
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
        let generation = generation
        let stored = try await database.tryRun {
            connection throws(Postgres.Failure) -> [KeyTable.Stored]? in
            var found = try KeyTable.load(realm, on: connection)
            if found.isEmpty, try KeyTable.hasLog(realm, on: connection) {
                // Another node may have made them meanwhile: they are there before its first event.
                found = try KeyTable.load(realm, on: connection)
                if found.isEmpty { return nil }
            }
            guard found.isEmpty else { return found }
            // All or none: who comes second waits here and takes what the first one made.
            try KeyTable.transaction(on: connection) { connection throws(Postgres.Failure) in
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
        // New ones would open nothing of what is there, and would not fit a backup that has the old.
        guard let rows = stored else {
            log.error("keys.missing", ["realm": .string(realm.name)])
            throw .damaged
        }
        // The very same need not be unwrapped, and may be wrapped under a master key that is not here.
        let last = cache.withLock { $0.lastKeys(of: realm) }.flatMap {
            $0.ids == Set(rows.map(\.id))
                && $0.announced == Set(rows.filter(\.isAnnounced).map(\.id)) ? $0 : nil
        }
        guard let keys = last ?? RealmKeys(unwrap(rows, realm)) else {
            throw unreadable(rows, realm)
        }
        cache.withLock { $0.store(keys, of: realm, from: generation) }
        return keys
    }

    /// Why the rows that a realm has are no keys. None at all: they were not made, because the
    /// database has come to have another master key since this process started.
    func unreadable(_ rows: [KeyTable.Stored], _ realm: RealmID) -> LogFailure {
        guard rows.isEmpty || rows.contains(where: { !isKnown($0.key.master) }) else {
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
    /// before any key was wrapped.
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

    /// An unusable key of a realm: its row lacks a value, or is not what was written.
    public struct UnreadableKey: Sendable, Equatable {
        public let realm: String
        public let purpose: String
        public let version: Int

        public init(realm: String, purpose: String, version: Int) {
            self.realm = realm
            self.purpose = purpose
            self.version = version
        }
    }

    /// Each row is looked at by itself. Those that another master key wraps are not among them.
    public func unreadableKeys() async throws(LogFailure) -> [UnreadableKey] {
        let rows = try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.find(on: connection)
        }
        return rows.filter { row in
            guard let key = row.key, let realm = RealmID(row.realm) else { return true }
            return isKnown(key.master) && open(key, of: realm) == nil
        }.map { UnreadableKey(realm: $0.realm, purpose: $0.purpose, version: $0.version) }
    }

    /// The realms with a log and without a key.
    public func realmsWithoutKeys() async throws(LogFailure) -> [RealmID] {
        try await database.tryRun { connection throws(Postgres.Failure) in
            try KeyTable.realmsWithoutKeys(on: connection)
        }
    }

    /// A generation ends when the cache is cleared.
    var generation: Int { cache.withLock { $0.generation } }

    /// The key that seals for a subject, where something that it sealed was appended of late.
    func knownKey(of subject: UUID, in realm: RealmID) -> SubjectKey? {
        cache.withLock { $0.key(of: subject, in: realm) }
    }

    /// Keeps keys that sealed what is in the log now, unless this generation of them is over.
    func keep(_ keys: [UUID: SubjectKey], in realm: RealmID, from generation: Int) {
        guard !keys.isEmpty else { return }
        cache.withLock { $0.store(keys, in: realm, from: generation) }
    }

    /// The key that seals for a subject as the database has it, made when it has none yet. Nil: the
    /// subject is erased.
    func sealingKey(of subject: UUID, in realm: RealmID) async throws(LogFailure) -> SubjectKey? {
        // Another node may rotate the realm's keys between two looks; hardly twice.
        for _ in 0..<3 {
            let keys = try await keys(of: realm)
            switch try await subjectKey(of: subject, in: realm, keys) {
            case .erased: return nil
            case .outdated: break
            case .held(let id, let version, let wrapped):
                // A version that is not known here yet is known after another look.
                guard keys.wrapping[version] != nil else { break }
                guard let key = open(wrapped, by: version, of: subject, in: realm, keys) else {
                    throw .damaged
                }
                return SubjectKey(id: id, secret: key)
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
            try KeyTable.transaction(on: connection) { connection throws(Postgres.Failure) in
                try KeyTable.destroySubjectKey(subject, realm, on: connection)
            }
        }
        cache.withLock { $0.forget(subject, in: realm) }
    }

    /// Hears which number the database has for the realm's keys. Another one than before, or the first
    /// one: what is in memory may not be the database's.
    func note(_ number: Int32, of realm: RealmID) {
        guard cache.withLock({ $0.note(number, of: realm) }) else { return }
        forget(realm)
    }

    /// Invalidates the cached keys of a realm. Called whenever they may differ from the database's:
    /// another epoch, a key that append misses, a rotation on another node.
    func forget(_ realm: RealmID) {
        cache.withLock { $0.forget(realm) }
        // Who asks from now on is not given what was asked for before.
        loading.withLock { $0[realm] = nil }
    }

    /// The same for all realms: a connection was lost, and maybe what the server had not yet on disk.
    func forgetAll() {
        cache.withLock { $0.forgetAll() }
        loading.withLock { $0.removeAll() }
    }

    func wrap(
        _ key: SecretBytes, _ realm: RealmID, _ purpose: KeyPurpose, version: Int
    ) throws -> [UInt8] {
        try AESGCM.seal(
            key.exposedCopy(), key: master.secret,
            authenticating: realmContext(realm, purpose.rawValue, version))
    }

    func unwrap(
        _ rows: [KeyTable.Stored], _ realm: RealmID
    ) -> [KeyPurpose: [Int: UnwrappedKey]] {
        var unwrapped: [KeyPurpose: [Int: UnwrappedKey]] = [:]
        for stored in rows {
            let row = stored.key
            guard let purpose = KeyPurpose(rawValue: row.purpose), let bytes = open(row, of: realm)
            else { continue }
            unwrapped[purpose, default: [:]][row.version] = UnwrappedKey(
                id: stored.id, secret: SecretBytes(bytes), isAnnounced: stored.isAnnounced)
        }
        return unwrapped
    }

    private func open(_ key: WrappedKey, of realm: RealmID) -> [UInt8]? {
        guard let master = ([master] + previous).first(where: { $0.id == key.master }) else {
            return nil
        }
        return try? AESGCM.open(
            key.wrapped, key: master.secret,
            authenticating: realmContext(realm, key.purpose, key.version))
    }
}

/// What a wrapped key is bound to, so that it opens in its own place only.
func realmContext(_ realm: RealmID, _ purpose: String, _ version: Int) -> [UInt8] {
    Array("urd realm key/\(realm.name)/\(purpose)/\(version)".utf8)
}

func subjectContext(_ realm: RealmID, _ subject: UUID) -> [UInt8] {
    Array("urd subject key/\(realm.name)/\(subject)".utf8)
}
