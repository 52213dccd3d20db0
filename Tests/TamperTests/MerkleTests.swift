import Cryptography
import Testing
import Values

@testable import EventStore

/// RFC 6962 section 2.1, word for word: slow and plain, to check the fast one against.
enum Definition {
    static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
        switch leaves.count {
        case 0: return SHA256.hash([UInt8]())
        case 1: return SHA256.hash([[0], leaves[leaves.startIndex]])
        default:
            let middle = leaves.startIndex + split(leaves.count)
            return SHA256.hash([[1], root(leaves[..<middle]), root(leaves[middle...])])
        }
    }

    static func path(_ index: Int, _ leaves: ArraySlice<[UInt8]>) -> [[UInt8]] {
        guard leaves.count > 1 else { return [] }
        let count = split(leaves.count)
        let left = leaves.prefix(count)
        let right = leaves.dropFirst(count)
        return index < count
            ? path(index, left) + [root(right)] : path(index - count, right) + [root(left)]
    }

    static func proof(_ old: Int, _ leaves: ArraySlice<[UInt8]>, _ isComplete: Bool) -> [[UInt8]] {
        if old == leaves.count { return isComplete ? [] : [root(leaves)] }
        let count = split(leaves.count)
        let left = leaves.prefix(count)
        let right = leaves.dropFirst(count)
        return old <= count
            ? proof(old, left, isComplete) + [root(right)]
            : proof(old - count, right, false) + [root(left)]
    }

    private static func split(_ count: Int) -> Int {
        var power = 1
        while power * 2 < count { power *= 2 }
        return power
    }
}

/// The tree of the reference implementation of RFC 6962.
private let referenceLeaves: [[UInt8]] = [
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
].map { Hex.decode($0) ?? [] }

private let referenceRoots = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

func records(_ count: Int) -> [[UInt8]] { (0..<count).map { Array("record \($0)".utf8) } }

func hash(_ bytes: [UInt8]) throws -> TreeHash { try #require(TreeHash(bytes)) }

/// Gives perfect subtrees straight from the leaves.
func perfect(_ leaves: [TreeHash]) -> (Int, Int64) -> TreeHash {
    { height, index in
        let first = Int(index) << height
        return Merkle.root(Array(leaves[first..<first + (1 << height)]))
    }
}

@Suite struct `A Merkle tree` {
    @Test func `a Merkle tree has the roots of the reference tree at every size`() {
        #expect(Merkle.emptyRoot.bytes == SHA256.hash([UInt8]()))
        var edge = CompactRange()
        var frontier = TileFrontier()
        for (record, root) in zip(referenceLeaves, referenceRoots) {
            edge.append(Merkle.leaf(record))
            frontier.append(Merkle.leaf(record)) { _ in }
            #expect(Hex.encode(edge.root.bytes) == root)
            #expect(frontier.root == edge.root)
        }
    }

    @Test func `a Merkle tree has the paths of the reference tree`() throws {
        let leaves = referenceLeaves.map(Merkle.leaf)
        func path(_ ranges: [Range<Int64>]?) throws -> [String] {
            try #require(ranges).map {
                Hex.encode(MerkleProof.root(of: $0, perfect(leaves)).bytes)
            }
        }
        #expect(
            try path(MerkleProof.inclusion(of: 5, in: 8)) == [
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ])
        #expect(
            try path(MerkleProof.consistency(from: 6, to: 8)) == [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ])
    }

    @Test func `a Merkle tree proves exactly its leaves at every size`() throws {
        let all = records(70)
        let leaves = all.map(Merkle.leaf)
        for size in 1...70 {
            let root = try hash(Definition.root(all[..<size]))
            #expect(Merkle.root(Array(leaves[..<size])) == root)
            for index in 0..<size {
                let ranges = try #require(MerkleProof.inclusion(of: Int64(index), in: Int64(size)))
                let path = ranges.map { MerkleProof.root(of: $0, perfect(leaves)) }
                #expect(path.map(\.bytes) == Definition.path(index, all[..<size]))
                func holds(_ leaf: TreeHash, _ index: Int, _ size: Int, _ path: [TreeHash]) -> Bool
                {
                    MerkleProof.isIncluded(
                        leaf, at: Int64(index), in: Int64(size), root: root, path: path)
                }
                #expect(holds(leaves[index], index, size, path))
                #expect(!holds(leaves[(index + 1) % 70], index, size, path))
                #expect(!holds(leaves[index], (index + 1) % size, size, path) || size == 1)
                #expect(!holds(leaves[index], index, size, path + [root]))
                if !path.isEmpty {
                    #expect(!holds(leaves[index], index, size, Array(path.dropLast())))
                    #expect(!holds(leaves[index], index, size, Array(path.dropFirst())))
                    var altered = path
                    altered[index % path.count] = root
                    #expect(!holds(leaves[index], index, size, altered))
                }
            }
        }
        #expect(MerkleProof.inclusion(of: 5, in: 5) == nil)
        #expect(MerkleProof.inclusion(of: -1, in: 5) == nil)
    }

    @Test func `a Merkle tree proves exactly that each size extends the smaller ones`() throws {
        let all = records(70)
        let leaves = all.map(Merkle.leaf)
        let roots = try (0...70).map { try hash(Definition.root(all[..<$0])) }
        for new in 1...70 {
            for old in 1...new {
                let ranges = try #require(
                    MerkleProof.consistency(from: Int64(old), to: Int64(new)))
                let path = ranges.map { MerkleProof.root(of: $0, perfect(leaves)) }
                #expect(path.map(\.bytes) == Definition.proof(old, all[..<new], true))
                func holds(_ old: Int, _ oldRoot: TreeHash, _ path: [TreeHash]) -> Bool {
                    MerkleProof.isConsistent(
                        from: (Int64(old), oldRoot), to: (Int64(new), roots[new]), path: path)
                }
                #expect(holds(old, roots[old], path))
                #expect(!holds(old, roots[old - 1], path))
                #expect(!holds(old, roots[old], path + [roots[1]]))
                if !path.isEmpty {
                    #expect(!holds(old, roots[old], Array(path.dropLast())))
                    var altered = path
                    altered[old % path.count] = roots[0]
                    #expect(!holds(old, roots[old], altered))
                }
            }
        }
        #expect(MerkleProof.consistency(from: 0, to: 3) == nil)
        #expect(MerkleProof.consistency(from: 4, to: 3) == nil)
    }
}
