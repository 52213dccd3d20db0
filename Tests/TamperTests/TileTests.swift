import Testing

@testable import EventStore

@Suite struct `A tile` {
    @Test(
        arguments: [
            (0, 256, "tile/0/000"), (5, 256, "tile/0/005"), (999, 17, "tile/0/999.p/17"),
            (1000, 256, "tile/0/x001/000"), (1_234_067, 256, "tile/0/x001/x234/067"),
            (1_234_067, 1, "tile/0/x001/x234/067.p/1"),
        ] as [(Int64, Int, String)])
    func `a tile has the path that the specification gives it`(
        _ index: Int64, _ width: Int, _ path: String
    )
        throws
    {
        let address = try #require(TileAddress(.hashes(level: 0), index: index, width: width))
        #expect(address.path == path)
        #expect(TileAddress(path: path) == address)
    }

    @Test func `a tile of records stands beside the hashes`() throws {
        let address = try #require(TileAddress(.entries, index: 273, width: 112))
        #expect(address.path == "tile/entries/273.p/112")
        #expect(TileAddress(path: address.path) == address)
    }

    @Test(arguments: [
        "", "tile", "tile/0", "tile/0/", "tile/0/1", "tile/0/0001", "tile/00/001", "tile/-1/001",
        "tile/0/x000/001", "tile/0/001/002", "tile/0/x001", "tile/0/001.p/0", "tile/0/001.p/256",
        "tile/0/001.p/01", "tile/0/001.p", "tile/0/001.p/", "tile/7/001", "tile/0/+01",
        "tile/0/٠٠١",
        "tile/0/x001/x002/x003/x004/x005/x006/007", "tile/0/001/", "/tile/0/001",
        "tile/entries/x01/001",
        "tile/0/001.p/4/", "tile/0/x999/x999/x999/x999/x999/999",
    ])
    func `a tile is not found by a foreign path`(_ path: String) {
        #expect(TileAddress(path: path) == nil)
    }

    @Test func `a tile is emitted once, full and in place, and unfinished ones are kept`() throws {
        var frontier = TileFrontier()
        var edge = CompactRange()
        var tiles: [TileFrontier.Tile] = []
        let leaves = records(70_000).map(Merkle.leaf)
        for leaf in leaves {
            frontier.append(leaf) { tiles.append($0) }
            edge.append(leaf)
        }
        // The numbers of the specification's own example.
        #expect(tiles.filter { $0.level == 0 }.map(\.index) == Array(0..<273))
        #expect(tiles.filter { $0.level == 1 }.map(\.index) == [0])
        #expect(frontier.partial.map(\.count) == [112, 17, 1])
        #expect(frontier.root == edge.root)
        let first = try #require(tiles.first)
        #expect(first.hashes == Array(leaves[..<256]))
        #expect(frontier.partial[2] == [Merkle.root(tiles.filter { $0.level == 1 }[0].hashes)])
        #expect(TileFrontier(size: 70_000, partial: frontier.partial) == frontier)
        #expect(TileFrontier(size: 70_001, partial: frontier.partial) == nil)
        #expect(TileFrontier.levels(of: 256) == 2)
        #expect(TileFrontier.levels(of: 255) == 1)
    }
}
