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
    static func load(
        _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> [WrappedKey] {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(loading, parameters)
        return (0..<rows.count).map { wrappedKey(rows, $0) }
    }

    /// The master keys under which anything is wrapped.
    static func masters(on connection: Connection) throws(Failure) -> [[UInt8]] {
        let rows = try connection.execute(listingMasters)
        return (0..<rows.count).map { rows.bytes($0, 0) }
    }

    static func loadAll(
        notUnder master: [UInt8], on connection: Connection
    ) throws(Failure) -> [(String, WrappedKey)] {
        var parameters = Parameters()
        parameters.add(bytes: master)
        let rows = try connection.execute(loadingAll, parameters)
        return (0..<rows.count).map { (rows.text($0, 4), wrappedKey(rows, $0)) }
    }

    static func insert(
        _ key: WrappedKey, _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        try connection.execute(inserting, parameters(key, realm))
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
        // With all others kept out, the second holds those as well: nobody wraps under a key that
        // is about to be dropped.
        try connection.execute(locking, parameters)
        try connection.execute(locking, parameters)
    }

    enum SubjectKey: Sendable {
        case held(version: Int, wrapped: [UInt8])
        case erased
        /// The wrapping key was rotated away meanwhile: nothing was put in.
        case outdated
    }

    /// The subject's key, after putting this one in where there was none.
    static func subjectKey(
        _ subject: UUID, orInsert wrapped: [UInt8], by version: Int, _ realm: RealmID,
        on connection: Connection
    ) throws(Failure) -> SubjectKey {
        var insert = Parameters()
        insert.add(realm.name)
        insert.add(subject)
        insert.add(Int32(version))
        insert.add(bytes: wrapped)
        let inserted = try connection.execute(insertingSubject, insert)
        guard inserted.isEmpty else { return .held(version: version, wrapped: wrapped) }
        var find = Parameters()
        find.add(realm.name)
        find.add(subject)
        let rows = try connection.execute(findingSubject, find)
        guard !rows.isEmpty else { return .outdated }
        guard !rows.isNull(0, 1) else { return .erased }
        return .held(version: Int(rows.int32(0, 0)), wrapped: rows.bytes(0, 1))
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

    private static func wrappedKey(_ rows: Rows, _ row: Int) -> WrappedKey {
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
    "select purpose, version, master, wrapped from urd.realm_key where realm = $1")
private let loadingAll = Statement(
    "realm_key_load_all",
    """
    select purpose, version, master, wrapped, realm from urd.realm_key where master <> $1
    order by realm, purpose, version for update
    """)
private let listingMasters = Statement(
    "realm_key_masters", "select distinct master from urd.realm_key")
private let inserting = Statement(
    "realm_key_insert",
    """
    insert into urd.realm_key (realm, purpose, version, master, wrapped)
    values ($1, $2, $3, $4, $5) on conflict do nothing
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
// The row is held so that no rotation can drop the wrapping key before this is committed.
/// It need not wait for the disk: whatever the key seals is committed later, and waits for all that
/// was committed before it.
private let insertingSubject = Statement(
    "subject_key_insert",
    """
    with now as (select set_config('synchronous_commit', 'off', true))
    insert into urd.subject_key (realm, subject, wrapped_by, wrapped)
    select k.realm, $2, k.version, $4 from urd.realm_key k, now
    where k.realm = $1 and k.purpose = 'wrap' and k.version = $3
    for key share of k
    on conflict do nothing
    returning true
    """)
private let findingSubject = Statement(
    "subject_key_find",
    "select wrapped_by, wrapped from urd.subject_key where realm = $1 and subject = $2")
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
private let dropping = Statement(
    "realm_key_drop",
    """
    delete from urd.realm_key k where k.realm = $1 and k.purpose = 'wrap' and k.version < $2
        and not exists (
            select from urd.subject_key s where s.realm = $1 and s.wrapped_by = k.version)
    """)
