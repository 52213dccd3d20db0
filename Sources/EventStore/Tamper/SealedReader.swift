import EventSourcing
import Postgres

/// The sealed part of a realm's log, in one snapshot.
struct SealedReader {
    let realm: RealmID
    let newest: SignedCheckpoint?
    let keys: RealmKeys
    let connection: Connection

    init(_ realm: RealmID, keys: RealmKeys, on connection: Connection) throws(Failure) {
        self.realm = realm
        self.keys = keys
        self.connection = connection
        newest = try TamperTable.lastCheckpoint(realm, on: connection).flatMap {
            keys.checkpoint($0)
        }
    }

    var size: Int64 { newest?.size ?? 0 }

    func content(of tile: TileAddress) throws -> [UInt8]? {
        switch tile.kind {
        case .hashes(let level):
            let end = (tile.index << Int64(TileAddress.height)) + Int64(tile.width)
            guard end <= size >> Int64(TileAddress.height * level) else { return nil }
            let tree = TileReader(realm, size: size, on: connection)
            guard
                let hashes = try tree.hashes(level: level, index: tile.index, width: tile.width)
            else { throw ProofFailure.damaged }
            return hashes.concatenated
        case .entries:
            let first = tile.index << Int64(TileAddress.height)
            guard first + Int64(tile.width) <= size else { return nil }
            return try bundle(first + 1...first + Int64(tile.width))
        }
    }

    func inclusion(of position: Int64) throws -> InclusionProof {
        guard let newest, position > 0,
            let ranges = MerkleProof.inclusion(of: position - 1, in: newest.size)
        else { throw ProofFailure.notSealed(sealed: size) }
        let path = try hashes(ranges, newest.size)
        var record: [UInt8]?
        try records(position...position) { record = $1 }
        guard let record else { throw ProofFailure.damaged }
        let proof = InclusionProof(
            position: position, record: record, path: path, checkpoint: newest)
        guard proof.holds else { throw ProofFailure.damaged }
        return proof
    }

    func consistency(from old: Int64, to new: Int64?) throws -> ConsistencyProof {
        let older = try checkpoint(at: old)
        let newer = try checkpoint(at: new ?? size)
        guard let ranges = MerkleProof.consistency(from: older.size, to: newer.size) else {
            throw ProofFailure.noCheckpoint(size: new ?? size)
        }
        let proof = ConsistencyProof(
            old: older, new: newer, path: try hashes(ranges, newer.size))
        guard proof.holds else { throw ProofFailure.damaged }
        return proof
    }

    func checkpoints(_ sizes: ClosedRange<Int64>) throws(Failure) -> [SignedCheckpoint] {
        try TamperTable.checkpoints(realm, sizes, on: connection).compactMap { keys.checkpoint($0) }
    }

    /// The perfect subtrees of the first leaves, largest first.
    func beginning(_ count: Int64) throws -> [TreeHash] {
        let tree = TileReader(realm, size: size, on: connection)
        var hashes: [TreeHash] = []
        var start: Int64 = 0
        for height in (0..<62).reversed() where count >> Int64(height) & 1 == 1 {
            let end = start + 1 << Int64(height)
            guard let hash = try tree.root(of: start..<end) else { throw ProofFailure.damaged }
            hashes.append(hash)
            start = end
        }
        return hashes
    }

    /// Calls with each position and its canonical record, without a mark. Fails where a record is missing or cannot be
    /// read, after the calls for all records before it.
    func records(
        _ positions: ClosedRange<Int64>, _ body: (Int64, [UInt8]) -> Void
    ) throws {
        var next = positions.lowerBound
        var buffer = RecordBuffer()
        let name = Array(realm.name.utf8)
        try EventCopy.read(realm, positions, on: connection) { row in
            guard let event = EventColumns(row), event.hasWholeObjects, event.position == next
            else { return }
            event.writeRecord(realm: name, into: &buffer)
            body(event.position, buffer.record)
            next += 1
        }
        guard next > positions.upperBound else { throw ProofFailure.missing(position: next) }
    }

    private func checkpoint(at size: Int64) throws -> SignedCheckpoint {
        guard size > 0, let found = try checkpoints(size...size).first else {
            throw ProofFailure.noCheckpoint(size: size)
        }
        return found
    }

    private func hashes(_ ranges: [Range<Int64>], _ size: Int64) throws -> [TreeHash] {
        let tree = TileReader(realm, size: size, on: connection)
        return try ranges.map { range in
            guard let hash = try tree.root(of: range) else { throw ProofFailure.damaged }
            return hash
        }
    }

    private func bundle(_ positions: ClosedRange<Int64>) throws -> [UInt8] {
        var bundle: [UInt8] = []
        var tooLong: Int64?
        try records(positions) { position, record in
            guard let length = UInt16(exactly: record.count) else {
                tooLong = tooLong ?? position
                return
            }
            bundle.append(UInt8(length >> 8))
            bundle.append(UInt8(length & 255))
            bundle.append(contentsOf: record)
        }
        if let tooLong { throw ProofFailure.recordTooLong(position: tooLong) }
        return bundle
    }
}
