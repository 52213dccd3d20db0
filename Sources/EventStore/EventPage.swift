import Cryptography
import EventSourcing
import JSON
import Postgres
import Values

/// Rows of `urd.event` as they came, before anything sealed is opened.
struct EventPage: Sendable {
    struct Row: Sendable {
        let position: Int64
        let stream: UUID
        let version: Int
        let type: String
        let revision: Int
        let at: Timestamp
        let command: UUID
        let subject: UUID?
        let meta: [UInt8]
        let data: [UInt8]
        /// Nil: no hash stands there.
        let leaf: LeafHash?
        let sealed: [UInt8]?
        let key: Key

        func recorded(
            _ realm: RealmID, personal: Recorded.Personal
        ) throws(LogFailure) -> Recorded {
            guard let leaf, let open = (try? JSON.parse(data))?.object,
                let meta = (try? JSON.parse(meta))?.object, let actor = meta["actor"]?.string
            else { throw .damaged }
            return Recorded(
                realm: realm, position: position, stream: stream, version: version, name: type,
                revision: revision, at: at, command: command, subject: subject, actor: actor,
                client: meta["client"]?.string, correlation: meta["correlation"]?.string,
                leaf: leaf, open: open, personal: personal)
        }
    }

    /// What the database has of the key of an event's subject.
    enum Key: Sendable {
        /// No row, or nothing is sealed.
        case none
        case erased
        case held(version: Int, wrapped: [UInt8])
    }

    let realm: RealmID
    let rows: [Row]
    /// The realm's epoch as this read saw it. Nil where there was no row to see it with.
    let epoch: Int?
    /// The last version that the stream ever had, where it is known.
    let last: Int?

    init(_ rows: Rows, _ realm: RealmID) {
        self.init(rows, 0..<rows.count, realm)
    }

    /// Some of the rows.
    init(_ rows: Rows, _ range: Range<Int>, _ realm: RealmID, last: Int? = nil) {
        self.realm = realm
        self.last = last
        self.rows = range.map { row in
            Row(
                position: rows.int64(row, 0), stream: rows.identifier(row, 1),
                version: Int(rows.int32(row, 2)), type: rows.text(row, 3),
                revision: Int(rows.int16(row, 4)), at: Timestamp(microseconds: rows.time(row, 5)),
                command: rows.identifier(row, 6),
                subject: rows.isNull(row, 7) ? nil : rows.identifier(row, 7),
                meta: rows.bytes(row, 8), data: rows.bytes(row, 9), leaf: rows.leaf(row, 14),
                sealed: rows.isNull(row, 10) ? nil : rows.bytes(row, 10),
                key: rows.isNull(row, 11)
                    ? .none
                    : rows.isNull(row, 12)
                        ? .erased
                        : .held(version: Int(rows.int32(row, 11)), wrapped: rows.bytes(row, 12)))
        }
        epoch = range.isEmpty || rows.isNull(0, 13) ? nil : Int(rows.int32(0, 13))
    }

    var hasSealed: Bool { rows.contains { $0.sealed != nil } }

    /// Whether it is of one stream, and no event of it is missing between this version and its last.
    func isWhole(after version: Int) -> Bool {
        zip(rows, (version + 1)...).allSatisfy { $0.version == $1 }
            && (last == nil || last == rows.last?.version)
    }

    /// Whether these keys wrap every subject's key in it.
    func isWrapped(under keys: RealmKeys) -> Bool {
        rows.allSatisfy { row in
            guard case .held(let version, _) = row.key else { return true }
            return keys.wrapping[version] != nil
        }
    }

    /// The events, with sealed fields opened where their key still exists. A field that cannot be opened makes
    /// no other field unreadable.
    func recorded(_ keyring: Keyring, _ keys: RealmKeys?) throws(LogFailure) -> [Recorded] {
        var events: [Recorded] = []
        events.reserveCapacity(rows.count)
        for row in rows {
            events.append(try row.recorded(realm, personal: personal(row, keyring, keys)))
        }
        return events
    }

    private func personal(
        _ row: Row, _ keyring: Keyring, _ keys: RealmKeys?
    ) -> Recorded.Personal {
        guard let sealed = row.sealed else { return .none }
        if case .erased = row.key { return .erased }
        guard let subject = row.subject, case .held(let version, let wrapped) = row.key, let keys
        else { return .unreadable }
        let seal = EventSeal(
            realm: realm, stream: row.stream, version: row.version, type: row.type)
        guard
            let key = keyring.open(wrapped, by: version, of: subject, in: realm, keys),
            let bytes = try? seal.open(sealed, under: key),
            let fields = (try? JSON.parse(bytes))?.object
        else { return .unreadable }
        return .opened(fields)
    }
}
