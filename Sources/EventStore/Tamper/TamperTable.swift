import EventSourcing
import Postgres
import Values

/// The statements over `urd.tile`, `urd.checkpoint` and the leaves of `urd.event`.
enum TamperTable {
    struct Head: Sendable {
        let realm: RealmID
        let position: Int64
        let sealed: Int64
        /// How many losses were accepted: `AcceptedLoss`.
        let accepted: Int32
    }

    /// One event, as far as the tree is concerned.
    struct Leaf: Sendable {
        let position: Int64
        /// Nil where the column holds no hash.
        let hash: TreeHash?
        let mac: [UInt8]
    }

    struct CheckpointRow: Sendable {
        let size: Int64
        let root: [UInt8]
        let note: [UInt8]
    }

    static func heads(on connection: Connection) throws(Failure) -> [Head] {
        var parameters = Parameters()
        parameters.add(AcceptedLoss.stream)
        let rows = try connection.execute(readingHeads, parameters)
        return (0..<rows.count).compactMap { row in
            RealmID(rows.text(row, 0)).map {
                Head(
                    realm: $0, position: rows.int64(row, 1), sealed: rows.int64(row, 2),
                    accepted: rows.int32(row, 3))
            }
        }
    }

    /// False while another node seals this realm. Held until the transaction ends.
    static func lock(_ realm: RealmID, on connection: Connection) throws(Failure) -> Bool {
        var parameters = Parameters()
        parameters.add(realm.name)
        guard try connection.execute(locking, parameters).isEmpty else { return true }
        // A realm that was never sealed has no row yet.
        try connection.execute(enrolling, parameters)
        return try !connection.execute(locking, parameters).isEmpty
    }

    static func position(of realm: RealmID, on connection: Connection) throws(Failure) -> Int64 {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(readingPosition, parameters)
        return rows.isEmpty ? 0 : rows.int64(0, 0)
    }

    static func epoch(of realm: RealmID, on connection: Connection) throws(Failure) -> Int {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(readingEpoch, parameters)
        return rows.isEmpty ? 0 : Int(rows.int32(0, 0))
    }

    /// Up to where the log is that of an earlier epoch. Nil: no other has begun since.
    static func shared(
        by realm: RealmID, since epoch: Int, on connection: Connection
    ) throws(Failure) -> Int64? {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(Int32(clamping: epoch))
        let rows = try connection.execute(readingShared, parameters)
        return rows.isNull(0, 0) ? nil : rows.int64(0, 0)
    }

    /// How much of a log was sealed at a time, of what was sealed up to a size. A second is for the clocks of both machines.
    static func sealed(
        _ realm: RealmID, at time: Timestamp, upTo size: Int64, on connection: Connection
    ) throws(Failure) -> Int64 {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(size)
        parameters.add(time: time.microseconds)
        let rows = try connection.execute(readingSealedAt, parameters)
        return rows.int64(0, 0)
    }

    /// Moves a realm to an epoch behind one in which something was signed that is lost. Nothing
    /// happens to a realm that is in that epoch already.
    static func leave(
        epoch: Int, _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(Int32(clamping: epoch))
        try connection.execute(leavingEpoch, parameters)
    }

    static func leaves(
        _ realm: RealmID, _ positions: ClosedRange<Int64>, on connection: Connection
    ) throws(Failure) -> [Leaf] {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(positions.lowerBound)
        parameters.add(positions.upperBound)
        let rows = try connection.execute(readingLeaves, parameters)
        return (0..<rows.count).map { row in
            Leaf(
                position: rows.int64(row, 0),
                hash: rows.withField(row, 1) {
                    $0.count == TreeHash.length
                        ? TreeHash(loading: UnsafeRawBufferPointer($0)) : nil
                },
                mac: rows.bytes(row, 2))
        }
    }

    /// Full tiles of one level, by index. Damaged tiles are left out.
    static func tiles(
        _ realm: RealmID, level: Int, _ indices: ClosedRange<Int64>, on connection: Connection
    ) throws(Failure) -> [Int64: [TreeHash]] {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(Int16(level))
        parameters.add(indices.lowerBound)
        parameters.add(indices.upperBound)
        let rows = try connection.execute(readingTiles, parameters)
        var tiles: [Int64: [TreeHash]] = [:]
        for row in 0..<rows.count {
            guard let hashes = [TreeHash](concatenated: rows.bytes(row, 1)),
                hashes.count == TileAddress.fullWidth
            else { continue }
            tiles[rows.int64(row, 0)] = hashes
        }
        return tiles
    }

    static func insert(
        _ tiles: [TileFrontier.Tile], _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        guard !tiles.isEmpty else { return }
        var levels = ArrayParameter(of: .int2)
        var indices = ArrayParameter(of: .int8)
        var contents = ArrayParameter(of: .bytea)
        for tile in tiles {
            levels.append(Int16(tile.level))
            indices.append(tile.index)
            contents.append(bytes: tile.hashes.concatenated)
        }
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(levels)
        parameters.add(indices)
        parameters.add(contents)
        try connection.execute(insertingTiles, parameters)
    }

    static func insert(
        _ checkpoint: SignedCheckpoint, _ realm: RealmID, on connection: Connection
    ) throws(Failure) {
        var parameters = Parameters()
        parameters.add(realm.name)
        parameters.add(checkpoint.size)
        parameters.add(bytes: checkpoint.root.bytes)
        parameters.add(String(decoding: checkpoint.note, as: UTF8.self))
        try connection.execute(insertingCheckpoint, parameters)
        var size = Parameters()
        size.add(realm.name)
        size.add(checkpoint.size)
        try connection.execute(notingSize, size)
    }

    /// The largest checkpoint that is not larger than a size.
    static func lastCheckpoint(
        _ realm: RealmID, upTo size: Int64 = .max, on connection: Connection
    ) throws(Failure) -> CheckpointRow? {
        try checkpoints(readingLastCheckpoint, realm, size, on: connection).first
    }

    /// The smallest checkpoint that is not smaller than a size.
    static func firstCheckpoint(
        _ realm: RealmID, from size: Int64, on connection: Connection
    ) throws(Failure) -> CheckpointRow? {
        try checkpoints(readingFirstCheckpoint, realm, size, on: connection).first
    }

    static func checkpoints(
        _ realm: RealmID, _ sizes: ClosedRange<Int64>, on connection: Connection
    ) throws(Failure) -> [CheckpointRow] {
        try checkpoints(
            readingCheckpoints, realm, sizes.lowerBound, sizes.upperBound, on: connection)
    }

    private static func checkpoints(
        _ statement: Statement, _ realm: RealmID, _ sizes: Int64..., on connection: Connection
    ) throws(Failure) -> [CheckpointRow] {
        var parameters = Parameters()
        parameters.add(realm.name)
        for size in sizes { parameters.add(size) }
        let rows = try connection.execute(statement, parameters)
        return (0..<rows.count).map {
            CheckpointRow(
                size: rows.int64($0, 0), root: rows.bytes($0, 1), note: rows.bytes($0, 2))
        }
    }
}

private let readingHeads = Statement(
    "tamper_heads",
    """
    select h.realm, h.position, coalesce(
        (select c.size from urd.checkpoint c where c.realm = h.realm order by c.size desc limit 1), 0),
        coalesce((select s.version from urd.stream s where s.realm = h.realm and s.stream = $1), 0)
    from urd.realm_log h where h.position is not null
    """)
private let locking = Statement(
    "tamper_lock", "select realm from urd.seal where realm = $1 for update skip locked")
private let enrolling = Statement(
    "tamper_enroll",
    "insert into urd.seal (realm) values ($1) on conflict (realm) do nothing")
private let notingSize = Statement(
    "tamper_size", "update urd.seal set size = $2 where realm = $1")
private let readingPosition = Statement(
    "tamper_position", "select position from urd.realm_log where realm = $1")
private let readingEpoch = Statement(
    "tamper_epoch", "select epoch from urd.realm_log where realm = $1")
private let readingShared = Statement(
    "tamper_shared",
    "select min(e.began_after) from urd.epoch e where e.realm = $1 and e.epoch > $2")
private let readingSealedAt = Statement(
    "tamper_sealed_at",
    """
    select coalesce(max(c.size), 0) from urd.checkpoint c
    where c.realm = $1 and c.size <= $2 and c.at <= $3 + interval '1 second'
    """)
private let leavingEpoch = Statement("tamper_leave_epoch", "select urd.leave_epoch($1, $2)")
private let readingLeaves = Statement(
    "tamper_leaves",
    """
    select position, leaf, mac from urd.event
    where realm = $1 and position between $2 and $3 order by position
    """)
private let readingTiles = Statement(
    "tamper_tiles",
    "select index, hashes from urd.tile where realm = $1 and level = $2 and index between $3 and $4"
)
private let insertingTiles = Statement(
    "tamper_tile_insert",
    """
    insert into urd.tile (realm, level, index, hashes)
    select $1, t.level, t.index, t.hashes from unnest($2, $3, $4) as t (level, index, hashes)
    """)
private let insertingCheckpoint = Statement(
    "tamper_checkpoint_insert",
    "insert into urd.checkpoint (realm, size, root, note) values ($1, $2, $3, $4)")
private let readingLastCheckpoint = Statement(
    "tamper_checkpoint_last",
    """
    select size, root, note from urd.checkpoint
    where realm = $1 and size <= $2 order by size desc limit 1
    """)
private let readingFirstCheckpoint = Statement(
    "tamper_checkpoint_first",
    """
    select size, root, note from urd.checkpoint
    where realm = $1 and size >= $2 order by size limit 1
    """)
private let readingCheckpoints = Statement(
    "tamper_checkpoints",
    """
    select size, root, note from urd.checkpoint
    where realm = $1 and size between $2 and $3 order by size
    """)
