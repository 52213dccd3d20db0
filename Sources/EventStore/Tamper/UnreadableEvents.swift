import Cryptography
import EventSourcing
import Postgres
import Values

/// Events whose personal fields were not erased and cannot be read: how many, and which is the first.
public struct UnreadableEvents: Sendable, Equatable {
    /// The key of their subject is not in the database.
    public internal(set) var withoutKey: Int64 = 0
    /// Events with a key that does not open them.
    public internal(set) var notOpened: Int64 = 0
    public internal(set) var first: Int64?

    public init() {}

    public var count: Int64 { withoutKey + notOpened }

    /// A sentence for the operator. Nil without unreadable events.
    public var description: String? {
        guard let first else { return nil }
        var parts: [String] = []
        if withoutKey > 0 { parts.append("of \(withoutKey) the key is missing") }
        if notOpened > 0 { parts.append("\(notOpened) are not opened by theirs") }
        return "\(count) sealed events cannot be read, though they were not erased: "
            + parts.joined(separator: ", ") + "; the first is at position \(first)."
    }
}

/// Opens all that is sealed in a realm's log, inside one snapshot of the database.
struct SealedEventScan {
    private static let pageLength = 8192
    private static let keptKeys = 100_000

    private let realm: RealmID
    private let keyring: Keyring
    private let connection: Connection
    private let keys: RealmKeys?
    private var secrets: [UUID: SecretBytes] = [:]
    private var found = UnreadableEvents()

    init(
        _ realm: RealmID, keyring: Keyring, on connection: Connection
    ) throws(Postgres.Failure) {
        self.realm = realm
        self.keyring = keyring
        self.connection = connection
        // As this snapshot has them: a rotation may come between what is in memory and what is read.
        keys = RealmKeys(keyring.unwrap(try KeyTable.load(realm, on: connection), realm))
    }

    mutating func count(from first: Int64) throws(Postgres.Failure) -> UnreadableEvents {
        var next = first
        while let last = try take(from: next), last < .max { next = last + 1 }
        return found
    }

    /// - Returns: the last position, where more may follow.
    private mutating func take(from first: Int64) throws(Postgres.Failure) -> Int64? {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(first)
        parameters.add(Int64(Self.pageLength))
        let rows = try connection.execute(readingSealed, parameters)
        for row in 0..<rows.count {
            if rows.isNull(row, 6) {
                found.withoutKey += 1
            } else if rows.isNull(row, 7) || opens(rows, row) {
                // It was erased, or it can be read.
                continue
            } else {
                found.notOpened += 1
            }
            found.first = min(found.first ?? .max, rows.int64(row, 0))
        }
        return rows.count < Self.pageLength ? nil : rows.int64(rows.count - 1, 0)
    }

    private mutating func opens(_ rows: Rows, _ row: Int) -> Bool {
        let seal = EventSeal(
            realm: realm, stream: rows.identifier(row, 1), version: Int(rows.int32(row, 2)),
            type: rows.text(row, 3))
        guard let secret = secret(rows, row) else { return false }
        return (try? seal.open(rows.bytes(row, 5), under: secret)) != nil
    }

    private mutating func secret(_ rows: Rows, _ row: Int) -> SecretBytes? {
        let subject = rows.identifier(row, 4)
        if let known = secrets[subject] { return known }
        guard let keys,
            let secret = keyring.open(
                rows.bytes(row, 7), by: Int(rows.int32(row, 6)), of: subject, in: realm, keys)
        else { return nil }
        if secrets.count >= Self.keptKeys { secrets.removeAll() }
        secrets[subject] = secret
        return secret
    }
}

/// One look-up for each key. Where there is none the version is null; where it was erased, the key is.
private let readingSealed = Statement(
    "sealed_events",
    """
    select e.position, e.stream, e.version, e.type, e.subject, e.sealed, k.wrapped_by, k.wrapped
    from urd.event e left join lateral (
        select coalesce(k.wrapped_by, 0) as wrapped_by, k.wrapped from urd.subject_key k
        where k.realm = $1 and k.subject = e.subject offset 0) k on true
    where e.realm = $1 and e.position >= $2 and e.sealed is not null
    order by e.position limit $3
    """)
