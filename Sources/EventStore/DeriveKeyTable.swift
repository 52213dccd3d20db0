import EventSourcing
import Postgres

/// Versions of a realm's derive key in `urd.realm_key`.
extension KeyTable {
    /// As `insert`, of a key that is not in use yet.
    static func announce(
        _ key: WrappedKey, _ realm: RealmID, on connection: Connection
    ) throws(Failure) -> Bool {
        guard try insert(key, realm, on: connection) else { return false }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(Int32(key.version))
        return try connection.execute(announcing, parameters).changed > 0
    }

    /// Puts the announced versions in use.
    /// - Returns: the number of these versions.
    static func adopt(_ realm: RealmID, on connection: Connection) throws(Failure) -> Int {
        try connection.execute(adopting, realmParameter(realm)).changed
    }

    /// Destroys every version but the one in use, and what is announced.
    /// - Returns: how many versions that were.
    static func retire(_ realm: RealmID, on connection: Connection) throws(Failure) -> Int {
        try connection.execute(retiring, realmParameter(realm)).changed
    }

    /// Tells every node that the realm has other keys.
    static func noteKeys(of realm: RealmID, on connection: Connection) throws(Failure) {
        try connection.execute(noting, realmParameter(realm))
    }

    /// For how many whole days a realm has had more than one version, by its name.
    static func overlaps(on connection: Connection) throws(Failure) -> [(RealmID, days: Int)] {
        let rows = try connection.execute(listingOverlaps)
        return (0..<rows.count).compactMap { row in
            RealmID(rows.text(row, 0)).map { ($0, days: Int(rows.int32(row, 1))) }
        }
    }

    static func realmParameter(_ realm: RealmID) -> Parameters {
        var parameters = Parameters()
        parameters.add(realm.name)
        return parameters
    }
}

private let announcing = Statement(
    "derive_key_announce",
    """
    update urd.realm_key set announced = true
    where realm = $1 and purpose = 'derive' and version = $2
    """)
private let adopting = Statement(
    "derive_key_adopt",
    """
    update urd.realm_key set announced = false
    where realm = $1 and purpose = 'derive' and announced
    """)
private let retiring = Statement(
    "derive_key_retire",
    """
    delete from urd.realm_key k where k.realm = $1 and k.purpose = 'derive' and not k.announced
        and k.version < (
            select max(n.version) from urd.realm_key n
            where n.realm = $1 and n.purpose = 'derive' and not n.announced)
    """)
private let noting = Statement("keys_note", "select urd.note_keys($1)")
private let listingOverlaps = Statement(
    "derive_key_overlaps",
    """
    select realm, floor(extract(epoch from now() - max(created_at)) / 86400)::integer
    from urd.realm_key where purpose = 'derive' group by realm having count(*) > 1
    order by realm
    """)
