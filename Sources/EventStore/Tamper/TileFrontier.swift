/// The last, unfinished tile of every level: a tree that can grow, give its root, and hand out each
/// tile as it becomes full. One hash per leaf, over time.
public struct TileFrontier: Sendable, Equatable {
    /// A tile that just became full.
    public struct Tile: Sendable, Equatable {
        public let level: Int
        public let index: Int64
        public let hashes: [TreeHash]
    }

    public private(set) var size: Int64 = 0
    /// By level; never 256 long.
    private(set) var partial: [[TreeHash]] = [[]]

    public init() {}

    /// The frontier of a tree of a size, from its partial tiles. Nil unless they fit the size.
    init?(size: Int64, partial: [[TreeHash]]) {
        guard size >= 0, !partial.isEmpty, size >> Int64(8 * partial.count) == 0,
            partial.indices.allSatisfy({
                partial[$0].count == TileAddress.partialWidth(level: $0, size: size)
            })
        else { return nil }
        self.size = size
        self.partial = partial
    }

    /// The levels of a tree of a size.
    static func levels(of size: Int64) -> Int {
        var levels = 1
        while size >> Int64(8 * levels) > 0 { levels += 1 }
        return levels
    }

    public mutating func append(_ leaf: TreeHash, onFull: (Tile) -> Void) {
        size += 1
        append(leaf, level: 0, onFull)
    }

    private mutating func append(_ hash: TreeHash, level: Int, _ onFull: (Tile) -> Void) {
        if level == partial.count { partial.append([]) }
        if partial[level].isEmpty { partial[level].reserveCapacity(TileAddress.fullWidth) }
        partial[level].append(hash)
        guard partial[level].count == TileAddress.fullWidth else { return }
        let hashes = partial[level]
        partial[level] = []
        let index = (size >> Int64(8 * (level + 1))) - 1
        onFull(Tile(level: level, index: index, hashes: hashes))
        append(Merkle.root(hashes), level: level + 1, onFull)
    }

    public var root: TreeHash {
        var root: TreeHash?
        for hashes in partial {
            var edge = CompactRange()
            for hash in hashes { edge.append(hash) }
            for left in edge.hashes.reversed() {
                root = root.map { Merkle.node(left, $0) } ?? left
            }
        }
        return root ?? Merkle.emptyRoot
    }
}
