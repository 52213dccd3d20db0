import EventSourcing
import Postgres

/// The tree of a realm at one size, from what is stored: full tiles from their table, unfinished
/// ones made from what lies below them. Nothing is believed here: the caller compares roots.
final class TileReader {
    private struct Place: Hashable {
        let level: Int
        let index: Int64
    }

    let size: Int64
    private let realm: RealmID
    private let connection: Connection
    private var known: [Place: [TreeHash]] = [:]

    init(_ realm: RealmID, size: Int64, on connection: Connection) {
        self.realm = realm
        self.size = size
        self.connection = connection
    }

    /// The hashes of a tile at this size; nil where they are missing or damaged.
    func hashes(level: Int, index: Int64, width: Int) throws(Failure) -> [TreeHash]? {
        let place = Place(level: level, index: index)
        if let known = known[place], known.count >= width { return Array(known.prefix(width)) }
        let stored = try TamperTable.tiles(realm, level: level, index...index, on: connection)
        var hashes = stored[index]
        if hashes == nil, width < TileAddress.fullWidth {
            let first = index << Int64(TileAddress.height)
            hashes =
                try level == 0 ? leaves(from: first, width) : roots(level - 1, from: first, width)
        }
        guard let hashes, hashes.count >= width else { return nil }
        known[place] = hashes
        return Array(hashes.prefix(width))
    }

    /// What a tree of this size goes on growing from; nil where a tile is missing or damaged.
    func frontier() throws(Failure) -> TileFrontier? {
        var partial: [[TreeHash]] = []
        for level in 0..<TileFrontier.levels(of: size) {
            let width = TileAddress.partialWidth(level: level, size: size)
            guard width > 0 else {
                partial.append([])
                continue
            }
            let index = TileAddress.fullTiles(level: level, size: size)
            guard let hashes = try hashes(level: level, index: index, width: width) else {
                return nil
            }
            partial.append(hashes)
        }
        return TileFrontier(size: size, partial: partial)
    }

    /// The root over a range of leaves that a proof asks for.
    func root(of range: Range<Int64>) throws(Failure) -> TreeHash? {
        var isWhole = true
        let root = try MerkleProof.root(of: range) {
            (height: Int, index: Int64) throws(Failure) -> TreeHash in
            guard let hash = try perfect(height, index) else {
                isWhole = false
                return Merkle.emptyRoot
            }
            return hash
        }
        return isWhole ? root : nil
    }

    private func perfect(_ height: Int, _ index: Int64) throws(Failure) -> TreeHash? {
        let level = height / TileAddress.height
        let count = 1 << (height % TileAddress.height)
        let first = index << Int64(height % TileAddress.height)
        let offset = Int(first & 255)
        let tile = first >> Int64(TileAddress.height)
        let isFull = tile < TileAddress.fullTiles(level: level, size: size)
        let width =
            isFull
            ? TileAddress.fullWidth : TileAddress.partialWidth(level: level, size: size)
        guard let hashes = try hashes(level: level, index: tile, width: width),
            offset + count <= hashes.count
        else { return nil }
        return Merkle.root(Array(hashes[offset..<offset + count]))
    }

    private func leaves(from index: Int64, _ count: Int) throws(Failure) -> [TreeHash]? {
        let rows = try TamperTable.leaves(
            realm, index + 1...index + Int64(count), on: connection)
        guard rows.count == count else { return nil }
        let hashes = rows.compactMap(\.hash)
        return hashes.count == count ? hashes : nil
    }

    private func roots(
        _ level: Int, from index: Int64, _ count: Int
    ) throws(Failure) -> [TreeHash]? {
        let tiles = try TamperTable.tiles(
            realm, level: level, index...index + Int64(count) - 1, on: connection)
        let hashes = (index..<index + Int64(count)).compactMap { tiles[$0] }.map(Merkle.root)
        return hashes.count == count ? hashes : nil
    }
}
