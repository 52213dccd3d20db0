internal import Cryptography

/// The hashes of RFC 6962 section 2.1: leaves and inner nodes are told apart by their first byte.
public enum Merkle {
    /// The root of a tree without leaves.
    public static let emptyRoot = leaf(marked: UnsafeRawBufferPointer(start: nil, count: 0))

    public static func leaf(_ record: [UInt8]) -> TreeHash {
        var marked: [UInt8] = [0]
        marked.append(contentsOf: record)
        return marked.withUnsafeBytes { leaf(marked: $0) }
    }

    /// The leaf of a record that has the mark of a leaf, a zero, before it.
    static func leaf(marked record: UnsafeRawBufferPointer) -> TreeHash {
        digest { SHA256.hash(record, into: $0) }
    }

    public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        withUnsafeTemporaryAllocation(byteCount: 72, alignment: 8) { room in
            room[7] = 1
            room.storeBytes(of: left, toByteOffset: 8, as: TreeHash.self)
            room.storeBytes(of: right, toByteOffset: 40, as: TreeHash.self)
            let input = UnsafeRawBufferPointer(rebasing: room[7...])
            return digest { SHA256.hash(input, into: $0) }
        }
    }

    /// The root over perfect subtrees of one height that stand side by side.
    public static func root(_ hashes: [TreeHash]) -> TreeHash {
        var edge = CompactRange()
        for hash in hashes { edge.append(hash) }
        return edge.root
    }

    private static func digest(_ fill: (UnsafeMutableRawBufferPointer) -> Void) -> TreeHash {
        withUnsafeTemporaryAllocation(byteCount: TreeHash.length, alignment: 8) { room in
            fill(room)
            return TreeHash(loading: UnsafeRawBufferPointer(room))
        }
    }
}

/// The left-to-right perfect subtrees of a tree: all that is needed to let it grow and to know its
/// root. One hash for each bit that is set in the size.
public struct CompactRange: Sendable, Equatable {
    public private(set) var size: Int64 = 0
    /// Largest subtree first.
    public private(set) var hashes: [TreeHash] = []

    public init() {}

    public mutating func append(_ leaf: TreeHash) {
        var hash = leaf
        var rest = size
        while rest & 1 == 1, let left = hashes.popLast() {
            hash = Merkle.node(left, hash)
            rest >>= 1
        }
        hashes.append(hash)
        size += 1
    }

    public var root: TreeHash {
        guard var root = hashes.last else { return Merkle.emptyRoot }
        for left in hashes.dropLast().reversed() { root = Merkle.node(left, root) }
        return root
    }
}
