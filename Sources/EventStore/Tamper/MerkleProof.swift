/// Which subtrees a proof is made of (RFC 6962 sections 2.1.1 and 2.1.2), and whether one holds
/// (RFC 9162 sections 2.1.3.2 and 2.1.4.2). Leaves are counted from 0.
public enum MerkleProof {
    /// The subtrees beside the way from a leaf to the root, lowest first.
    public static func inclusion(of index: Int64, in size: Int64) -> [Range<Int64>]? {
        guard index >= 0, index < size else { return nil }
        var path: [Range<Int64>] = []
        var tree = 0..<size
        while tree.count > 1 {
            let middle = tree.lowerBound + split(Int64(tree.count))
            if index < middle {
                path.append(middle..<tree.upperBound)
                tree = tree.lowerBound..<middle
            } else {
                path.append(tree.lowerBound..<middle)
                tree = middle..<tree.upperBound
            }
        }
        return path.reversed()
    }

    /// The subtrees that show that a tree of the old size is the beginning of one of the new size.
    public static func consistency(from old: Int64, to new: Int64) -> [Range<Int64>]? {
        guard old > 0, old <= new else { return nil }
        var path: [Range<Int64>] = []
        var tree = 0..<new
        var isOldRootKnown = true
        while tree.upperBound != old {
            let middle = tree.lowerBound + split(Int64(tree.count))
            if old <= middle {
                path.append(middle..<tree.upperBound)
                tree = tree.lowerBound..<middle
            } else {
                path.append(tree.lowerBound..<middle)
                tree = middle..<tree.upperBound
                isOldRootKnown = false
            }
        }
        if !isOldRootKnown { path.append(tree) }
        return path.reversed()
    }

    public static func isIncluded(
        _ leaf: TreeHash, at index: Int64, in size: Int64, root: TreeHash, path: [TreeHash]
    ) -> Bool {
        guard index >= 0, index < size else { return false }
        var node = index
        var last = size - 1
        var hash = leaf
        for sibling in path {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                hash = Merkle.node(sibling, hash)
                while node & 1 == 0, node > 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                hash = Merkle.node(hash, sibling)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 && hash == root
    }

    public static func isConsistent(
        from old: (size: Int64, root: TreeHash), to new: (size: Int64, root: TreeHash),
        path: [TreeHash]
    ) -> Bool {
        guard old.size > 0, old.size <= new.size else { return false }
        if old.size == new.size { return path.isEmpty && old.root == new.root }
        var node = old.size - 1
        var last = new.size - 1
        while node & 1 == 1 {
            node >>= 1
            last >>= 1
        }
        var rest = path[...]
        // An old tree that is perfect is itself the first subtree.
        guard let first = node == 0 ? old.root : rest.popFirst() else { return false }
        var oldHash = first
        var newHash = first
        for sibling in rest {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                oldHash = Merkle.node(sibling, oldHash)
                newHash = Merkle.node(sibling, newHash)
                while node & 1 == 0, node > 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                newHash = Merkle.node(newHash, sibling)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 && oldHash == old.root && newHash == new.root
    }

    /// The largest power of two below a number that is greater than one.
    static func split(_ count: Int64) -> Int64 {
        precondition(count > 1, "Only a tree with two leaves can be split.")
        return 1 << (63 - Int64((count - 1).leadingZeroBitCount))
    }

    /// The root over a range that a proof asked for, from perfect subtrees: `perfect` gives the one
    /// of a height at an index among those of its height.
    static func root<Problem: Error>(
        of range: Range<Int64>,
        _ perfect: (_ height: Int, _ index: Int64) throws(Problem) -> TreeHash
    ) throws(Problem) -> TreeHash {
        var start = range.lowerBound
        var parts: [TreeHash] = []
        while start < range.upperBound {
            let left = range.upperBound - start
            let height = 63 - left.leadingZeroBitCount
            parts.append(try perfect(height, start >> Int64(height)))
            start += 1 << Int64(height)
        }
        guard var root = parts.popLast() else { return Merkle.emptyRoot }
        for part in parts.reversed() { root = Merkle.node(part, root) }
        return root
    }
}
