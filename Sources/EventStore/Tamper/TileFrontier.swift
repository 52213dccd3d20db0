/// The last, unfinished tile of every level: a tree that can grow, give its root, and hand out each
/// tile as it becomes full. One inner hash for each leaf, over time.
public struct TileFrontier: Sendable, Equatable {
    /// A tile that just became full.
    public struct Tile: Sendable, Equatable {
        public let level: Int
        public let index: Int64
        public let hashes: [TreeHash]
    }

    private struct Level: Sendable, Equatable {
        /// The hashes of the last tile, fewer than 256.
        var hashes: [TreeHash] = []
        var edge = CompactRange()
    }

    public private(set) var size: Int64 = 0
    private var levels = [Level()]

    public init() {}

    /// The frontier of a tree of a size, from its partial tiles. Nil unless they fit the size.
    init?(size: Int64, partial: [[TreeHash]]) {
        guard size >= 0, partial.count == TileFrontier.levels(of: size),
            partial.indices.allSatisfy({
                partial[$0].count == TileAddress.partialWidth(level: $0, size: size)
            })
        else { return nil }
        self.size = size
        levels = partial.map { hashes in
            var level = Level(hashes: hashes)
            for hash in hashes { level.edge.append(hash) }
            return level
        }
    }

    /// The levels of a tree of a size.
    static func levels(of size: Int64) -> Int {
        var levels = 1
        while size >> Int64(8 * levels) > 0 { levels += 1 }
        return levels
    }

    /// By level, the hashes of the unfinished tile.
    var partial: [[TreeHash]] { levels.map(\.hashes) }

    public mutating func append(_ leaf: TreeHash, onFull: (Tile) -> Void) {
        size += 1
        append(leaf, to: 0, onFull)
    }

    private mutating func append(_ hash: TreeHash, to level: Int, _ onFull: (Tile) -> Void) {
        if level == levels.count { levels.append(Level()) }
        levels[level].hashes.append(hash)
        levels[level].edge.append(hash)
        guard levels[level].hashes.count == TileAddress.fullWidth else { return }
        let full = levels[level]
        levels[level] = Level()
        levels[level].hashes.reserveCapacity(TileAddress.fullWidth)
        onFull(
            Tile(
                level: level, index: (size >> Int64(8 * (level + 1))) - 1, hashes: full.hashes))
        append(full.edge.root, to: level + 1, onFull)
    }

    public var root: TreeHash {
        var root: TreeHash?
        for level in levels {
            for left in level.edge.hashes.reversed() {
                root = root.map { Merkle.node(left, $0) } ?? left
            }
        }
        return root ?? Merkle.emptyRoot
    }
}
