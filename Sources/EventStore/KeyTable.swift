import EventSourcing
import Postgres
import Values

struct WrappedKey: Sendable {
    let purpose: String
    let version: Int
    let master: [UInt8]
    let wrapped: [UInt8]
}

/// The rows of `urd.realm_key` and `urd.subject_key`.
enum KeyTable {
    /// A key that is in the table, by the name that it keeps when it is wrapped anew.
    struct Stored: Sendable {
        let id: UUID
        let key: WrappedKey
        let isAnnounced: Bool
    }

    static func load(
        _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [Stored] {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(loading, parameters)
        return (0..<rows.count).map {
            Stored(
                id: rows.identifier($0, 4), key: wrappedKey(rows, $0), isAnnounced: rows.bool($0, 5)
            )
        }
    }

    /// What is committed here is on disk before any caller hears of it, regardless of the settings
    /// of the server or the role: keys are made and destroyed for good.
    @discardableResult
    static func transaction<Value>(
        on connection: Connection, _ body: (Connection) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try connection.transaction(beginningDurably, body)
    }

    /// The database's master key, by its name. Nil before the first wrapped key.
    static func master(on connection: Connection) throws(Failure) -> [UInt8]? {
        let rows = try connection.execute(readingMaster)
        return rows.isNull(0, 0) ? nil : rows.bytes(0, 0)
    }

    /// Locks out a change of the master key while a session makes keys, and the reverse: what
    /// follows sees the master key that the database has until this is committed.
    static func holdMaster(on connection: Connection) throws(Failure) {
        try connection.run("lock table urd.realm_key in row exclusive mode")
    }

    /// The same lock for the session that changes it.
    static func takeMaster(on connection: Connection) throws(Failure) {
        try connection.run("lock table urd.realm_key in share row exclusive mode")
    }

    /// The realms with keys under other master keys, and those.
    static func otherMasters(
        than master: [UInt8], on connection: Connection
    ) throws(Failure) -> [(realm: RealmID, master: [UInt8])] {
        var parameters = Parameters()
        parameters.add(bytes: master)
        let rows = try connection.execute(listingOthers, parameters)
        return (0..<rows.count).compactMap { row in
            RealmID(rows.text(row, 0)).map { ($0, rows.bytes(row, 1)) }
        }
    }

    /// Whether something was ever written to the realm, as far as the database has it.
    static func hasLog(_ realm: RealmID, on connection: Connection) throws(Failure) -> Bool {
        try connection.execute(lookingForLog, realmParameter(realm)).bool(0, 0)
    }

    static func realmsWithoutKeys(on connection: Connection) throws(Failure) -> [RealmID] {
        let rows = try connection.execute(listingKeyless)
        return (0..<rows.count).compactMap { RealmID(rows.text($0, 0)) }
    }

    /// A row of the table of keys, with columns that may have lost their value.
    struct Found: Sendable {
        let realm: String
        let purpose: String
        let version: Int
        /// Nil: a column that must have a value has none.
        let key: WrappedKey?
    }

    static func find(on connection: Connection) throws(Failure) -> [Found] {
        let rows = try connection.execute(listingAll)
        return (0..<rows.count).map { row in
            Found(
                realm: rows.text(row, 4), purpose: rows.text(row, 0),
                version: Int(rows.int32(row, 1)),
                key: rows.bool(row, 5) ? wrappedKey(rows, row) : nil)
        }
    }

    static func loadAll(
        notUnder master: [UInt8], on connection: Connection
    ) throws(Failure) -> [(String, WrappedKey)] {
        var parameters = Parameters()
        parameters.add(bytes: master)
        let rows = try connection.execute(loadingAll, parameters)
        return (0..<rows.count).map { (rows.text($0, 4), wrappedKey(rows, $0)) }
    }

    /// False, and nothing is put in, where there is one already or the database has another master key.
    @discardableResult
    static func insert(
        _ key: WrappedKey, _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> Bool {
        try connection.execute(inserting, parameters(key, realm)).changed > 0
    }

    static func replace(
        _ key: WrappedKey, _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        try connection.execute(replacing, parameters(key, realm))
    }

    /// Keeps rotations of one realm apart.
    static func lock(_ realm: RealmID, on connection: Connection) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        // The first statement may have waited for a rotation whose new keys it did not see yet.
        // With all others kept out, the second holds those as well: no session wraps under a key
        // that is about to be dropped.
        try connection.execute(locking, parameters)
        try connection.execute(locking, parameters)
    }

    enum SubjectKey: Sendable {
        case held(id: UUID, version: Int, wrapped: [UInt8])
        case erased
        /// The wrapping key was rotated away meanwhile: nothing was put in.
        case outdated
    }

    /// A key for a subject that may have none yet.
    struct NewSubjectKey: Hashable, Sendable {
        let subject: UUID
        /// Of the key that wraps it.
        let version: Int
        let wrapped: [UInt8]
    }

    /// The keys of subjects, after putting these in where there were none. They are looked for first:
    /// nearly all are there, and to insert is to wait for the disk.
    static func subjectKeys(
        orInsert new: [NewSubjectKey], _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [NewSubjectKey: SubjectKey] {
        var found = try find(Set(new.map(\.subject)), realm, on: connection)
        let missing = new.filter { found[$0.subject] == nil }
        if !missing.isEmpty {
            let inserted = try insert(missing, realm, on: connection)
            // Others may have been faster.
            let left = Set(missing.map(\.subject)).subtracting(inserted.keys)
            let others = left.isEmpty ? [:] : try find(left, realm, on: connection)
            found.merge(inserted) { $1 }
            found.merge(others) { $1 }
        }
        return Dictionary(
            new.map { ($0, found[$0.subject] ?? .outdated) },
            uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: the inserted keys by their subjects.
    private static func insert(
        _ new: [NewSubjectKey], _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [UUID: SubjectKey] {
        var subjects = ArrayParameter(of: .uuid)
        var versions = ArrayParameter(of: .int4)
        var wrapped = ArrayParameter(of: .bytea)
        for key in new {
            subjects.append(key.subject)
            versions.append(Int32(key.version))
            wrapped.append(bytes: key.wrapped)
        }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add([subjects, versions, wrapped])
        return subjectKeys(try connection.execute(insertingSubjects, parameters))
    }

    static func find(
        _ subjects: Set<UUID>, _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [UUID: SubjectKey] {
        var array = ArrayParameter(of: .uuid)
        for subject in subjects { array.append(subject) }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(array)
        return subjectKeys(try connection.execute(findingSubjects, parameters))
    }

    private static func subjectKeys(_ rows: Rows) -> [UUID: SubjectKey] {
        var found: [UUID: SubjectKey] = [:]
        for row in 0..<rows.count {
            found[rows.identifier(row, 0)] =
                rows.isNull(row, 2)
                ? .erased
                : .held(
                    id: rows.identifier(row, 3), version: Int(rows.int32(row, 1)),
                    wrapped: rows.bytes(row, 2))
        }
        return found
    }

    static func subjectKeys(
        _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [(subject: UUID, version: Int, wrapped: [UInt8])] {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(listingSubjects, parameters)
        return (0..<rows.count).map {
            (rows.identifier($0, 0), Int(rows.int32($0, 1)), rows.bytes($0, 2))
        }
    }

    static func replaceSubjectKey(
        _ subject: UUID, _ wrapped: [UInt8], by version: Int, _ realm: RealmID,
        on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(subject)
        parameters.add(Int32(version))
        parameters.add(bytes: wrapped)
        try connection.execute(replacingSubject, parameters)
    }

    static func destroySubjectKey(
        _ subject: UUID, _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(subject)
        // First, as an append takes its locks: the realm's row before the keys.
        try connection.execute(notingErasure, realmParameter(realm))
        try connection.execute(destroying, parameters)
    }

    static func dropUnusedWrappingKeys(
        _ realm: RealmID, before version: Int, on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(Int32(version))
        try connection.execute(dropping, parameters)
    }

    static func wrappedKey(_ rows: Rows, _ row: Int) -> WrappedKey {
        WrappedKey(
            purpose: rows.text(row, 0), version: Int(rows.int32(row, 1)),
            master: rows.bytes(row, 2), wrapped: rows.bytes(row, 3))
    }

    private static func parameters(_ key: WrappedKey, _ realm: RealmID) -> Parameters {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(key.purpose)
        parameters.add(Int32(key.version))
        parameters.add(bytes: key.master)
        parameters.add(bytes: key.wrapped)
        return parameters
    }
}

private let loading = Statement(
    "realm_key_load",
    "select purpose, version, master, wrapped, id, announced from urd.realm_key where realm = $1"
)
private let lookingForLog = Statement(
    "realm_has_log",
    """
    select coalesce((select h.position > 0 from urd.realm_log h where h.realm = $1), false)
        or coalesce((
            select true from urd.event e where e.realm = $1 and e.position >= 1
            order by e.position limit 1), false)
    """)
private let listingKeyless = Statement(
    "realms_without_keys",
    """
    select h.realm from urd.realm_log h where h.position > 0
        and not exists (select from urd.realm_key k where k.realm = h.realm)
    order by h.realm
    """)
private let listingAll = Statement(
    "realm_key_list",
    """
    select coalesce(purpose, '?'), coalesce(version, 0), coalesce(master, ''), coalesce(wrapped, ''),
        coalesce(realm, '?'), num_nulls(realm, purpose, version, master, wrapped, id, announced) = 0
    from urd.realm_key order by realm, purpose, version
    """)
private let loadingAll = Statement(
    "realm_key_load_all",
    """
    select purpose, version, master, wrapped, realm from urd.realm_key where master <> $1
    order by realm, purpose, version for update
    """)
// The one that wraps the keys of Urd's own realm: every installation has them, and a change of the
// master key wraps them anew too. Where they are not made yet, any realm's.
private let masterOfDatabase = """
    coalesce(
        (select master from urd.realm_key where realm = 'system' and purpose = 'wrap'
            order by version desc limit 1),
        (select master from urd.realm_key order by realm, purpose, version limit 1))
    """
private let readingMaster = Statement(
    "realm_key_master", "select \(masterOfDatabase)")
private let listingOthers = Statement(
    "realm_key_other_masters",
    "select distinct realm, master from urd.realm_key where master <> $1")
private let inserting = Statement(
    "realm_key_insert",
    """
    insert into urd.realm_key (realm, purpose, version, master, wrapped)
    select $1, $2, $3, $4, $5 where coalesce(\(masterOfDatabase) = $4, true)
    on conflict do nothing
    """)
private let replacing = Statement(
    "realm_key_replace",
    """
    update urd.realm_key set master = $4, wrapped = $5
    where realm = $1 and purpose = $2 and version = $3
    """)
private let locking = Statement(
    "realm_key_lock",
    "select 1 from urd.realm_key where realm = $1 order by purpose, version for update")
private let beginningDurably = """
    begin;
    select set_config('synchronous_commit', 'on', true)
        where current_setting('synchronous_commit') in ('off', 'local')
    """
// The row is held so that no rotation can drop the wrapping key before this is committed. It waits
// for this server's disk, regardless of the settings of the server or the role. It does not wait
// for standbys: the events that the key seals do, and come behind it in the same order; where a
// failover comes between, append refuses what was sealed (decision 0084). So a standby that hangs
// holds no connection that reads. In one order for all sessions: two nodes that bring keys of the
// same subjects wait for each other once.
private let insertingSubjects = Statement(
    "subject_keys_insert",
    """
    with now as (select set_config('synchronous_commit', 'local', true))
    insert into urd.subject_key (realm, subject, wrapped_by, wrapped)
    select k.realm, n.subject, k.version, n.wrapped
    from unnest($2, $3, $4) as n (subject, version, wrapped)
    join urd.realm_key k on k.realm = $1 and k.purpose = 'wrap' and k.version = n.version
    cross join now
    order by n.subject
    for key share of k
    on conflict do nothing
    returning subject, wrapped_by, wrapped, id
    """)
// One look-up for each: asked for all at once, a table that was never counted is read for the realm alone.
private let findingSubjects = Statement(
    "subject_keys_find",
    """
    select k.subject, k.wrapped_by, k.wrapped, k.id
    from unnest($2) as n (subject) cross join lateral (
        select * from urd.subject_key k where k.realm = $1 and k.subject = n.subject offset 0) k
    """)
private let listingSubjects = Statement(
    "subject_key_list",
    """
    select subject, wrapped_by, wrapped from urd.subject_key
    where realm = $1 and wrapped is not null for update
    """)
private let replacingSubject = Statement(
    "subject_key_replace",
    """
    update urd.subject_key set wrapped_by = $3, wrapped = $4
    where realm = $1 and subject = $2 and wrapped is not null
    """)
private let destroying = Statement(
    "subject_key_destroy",
    """
    insert into urd.subject_key (realm, subject, erased_at) values ($1, $2, now())
    on conflict (realm, subject) do update
        set wrapped_by = null, wrapped = null, erased_at = excluded.erased_at
        where urd.subject_key.wrapped is not null
    """)
private let notingErasure = Statement("erasure_note", "select urd.note_erasure($1)")
private let dropping = Statement(
    "realm_key_drop",
    """
    delete from urd.realm_key k where k.realm = $1 and k.purpose = 'wrap' and k.version < $2
        and not exists (
            select from urd.subject_key s where s.realm = $1 and s.wrapped_by = k.version)
    """)
