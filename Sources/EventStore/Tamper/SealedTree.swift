import Cryptography
import EventSourcing
import Postgres

/// The tree of one realm as this node signed it last, or saw it signed by another node.
struct SealedTree: Sendable, Equatable {
    var frontier = TileFrontier()
    /// Nil before the first checkpoint.
    var checkpoint: SignedCheckpoint?
    var newestLeaf: TreeHash?

    var size: Int64 { frontier.size }
}

/// One look at one realm, inside a transaction: checks what is there, seals what is new.
struct SealingRound {
    enum Outcome: Sendable {
        /// Another node is at it.
        case busy
        /// - Parameter givenUp: whether the copy outside the database no longer counts.
        case sealed(SealedTree, head: Int64, givenUp: Bool = false)
        case halted(Halt)
    }

    let realm: RealmID
    let keys: RealmKeys
    let signer: NoteSigner
    let connection: Connection
    /// How many events one checkpoint covers at most, so that a transaction stays small.
    let limit: Int64
    /// The copy outside the database, if there is one.
    let file: SignedCheckpoint?

    /// - Parameters:
    ///   - known: what this node signed or saw last; nil after a start.
    ///   - recheck: whether to read the stored tree again although it is known.
    func run(after known: SealedTree?, recheck: Bool) throws(Postgres.Failure) -> Outcome {
        guard try TamperTable.lock(realm, on: connection) else { return .busy }
        let outcome = try seal(after: known, file, recheck)
        guard case .halted = outcome else { return outcome }
        let accepted = try AcceptedLosses(realm, keys: keys, on: connection)
        let binding = known.flatMap { known in
            known.checkpoint.map(accepted.cover) == true ? nil : known
        }
        let copy = file.flatMap { accepted.cover($0) ? nil : $0 }
        guard binding != known || copy != file else {
            try forgetLost(outcome, [binding?.checkpoint, copy])
            return outcome
        }
        let second = try seal(after: binding, copy, recheck)
        guard case .sealed(let tree, let head, _) = second else {
            try forgetLost(second, [binding?.checkpoint, copy])
            return second
        }
        return .sealed(tree, head: head, givenUp: copy != file)
    }

    /// Nodes may know what the database lost: another epoch makes them forget it.
    private func forgetLost(
        _ outcome: Outcome, _ signed: [SignedCheckpoint?]
    ) throws(Postgres.Failure) {
        guard case .halted(let halt) = outcome, halt.isLoss else { return }
        for case let checkpoint? in signed {
            try TamperTable.leave(epoch: checkpoint.epoch, realm, on: connection)
        }
    }

    private func seal(
        after known: SealedTree?, _ file: SignedCheckpoint?, _ recheck: Bool
    ) throws(Postgres.Failure) -> Outcome {
        do {
            var tree = try current(known, recheck)
            try check(file, against: tree)
            let head = try TamperTable.position(of: realm, on: connection)
            guard head >= tree.size else {
                throw Stop.halt(.logIsShorter(size: tree.size, head: head))
            }
            if head > tree.size {
                let end = min(head, tree.size + limit)
                let tiles = try extend(&tree, to: end)
                try sign(&tree)
                try TamperTable.insert(tiles, realm, on: connection)
                if let checkpoint = tree.checkpoint {
                    try TamperTable.insert(checkpoint, realm, on: connection)
                }
            }
            return .sealed(tree, head: head)
        } catch {
            switch error {
            case Stop.halt(let halt): return .halted(halt)
            case let failure as Postgres.Failure: throw failure
            default: preconditionFailure("A round ends with a halt or a failure of the database.")
            }
        }
    }

    private enum Stop: Error {
        case halt(Halt)
    }

    /// The tree as the database has it now, after checking that it extends what is known.
    private func current(_ known: SealedTree?, _ recheck: Bool) throws -> SealedTree {
        let last = try TamperTable.lastCheckpoint(realm, on: connection)
        guard let row = last else {
            guard let known, let checkpoint = known.checkpoint else { return SealedTree() }
            throw Stop.halt(.lostCheckpoints(known: checkpoint.size, found: 0))
        }
        guard let signed = keys.checkpoint(row, known: recheck ? nil : known?.checkpoint) else {
            throw Stop.halt(.badCheckpoint(size: row.size))
        }
        guard let known, let before = known.checkpoint else {
            return try stored(at: signed)
        }
        guard signed.size >= before.size else {
            throw Stop.halt(.lostCheckpoints(known: before.size, found: signed.size))
        }
        if signed.size == before.size {
            guard signed.root == before.root else {
                throw Stop.halt(.changedCheckpoint(size: signed.size))
            }
            if recheck, try stored(at: signed).frontier != known.frontier {
                throw Stop.halt(.changedTree(size: signed.size))
            }
            return known
        }
        return try adopt(signed, after: known, before)
    }

    /// Another node has signed since. Believed only as far as the events bear it out.
    private func adopt(
        _ signed: SignedCheckpoint, after known: SealedTree, _ before: SignedCheckpoint
    ) throws -> SealedTree {
        guard signed.size - known.size <= limit else {
            let old = try TileReader(realm, size: known.size, on: connection).frontier()
            guard old == known.frontier else {
                throw Stop.halt(.changedTree(size: before.size))
            }
            return try stored(at: signed)
        }
        var tree = known
        _ = try extend(&tree, to: signed.size)
        guard tree.frontier.root == signed.root else {
            throw Stop.halt(.changedTree(size: signed.size))
        }
        tree.checkpoint = signed
        return tree
    }

    private func stored(at signed: SignedCheckpoint) throws -> SealedTree {
        let frontier = try TileReader(realm, size: signed.size, on: connection).frontier()
        guard let frontier, frontier.root == signed.root else {
            throw Stop.halt(.changedTree(size: signed.size))
        }
        let newest = try TamperTable.leaves(
            realm, signed.size...signed.size, on: connection
        ).first?.hash
        guard let newest else { throw Stop.halt(.missingEvent(position: signed.size)) }
        return SealedTree(frontier: frontier, checkpoint: signed, newestLeaf: newest)
    }

    private func check(_ file: SignedCheckpoint?, against tree: SealedTree) throws {
        guard let file else { return }
        guard file.size <= tree.size else {
            throw Stop.halt(.lostCheckpoints(known: file.size, found: tree.size))
        }
        if file.size == tree.size {
            guard file.root == tree.frontier.root else {
                throw Stop.halt(.fileDiffers(size: file.size))
            }
        } else {
            let old = try TileReader(realm, size: file.size, on: connection).frontier()
            guard old?.root == file.root else { throw Stop.halt(.fileDiffers(size: file.size)) }
        }
    }

    /// Takes events in, each only if the application wrote it. The newest event that was taken in
    /// before is read again: it must still have the same position and hash.
    private func extend(_ tree: inout SealedTree, to end: Int64) throws -> [TileFrontier.Tile] {
        let first = max(1, tree.size)
        let leaves = try TamperTable.leaves(realm, first...end, on: connection)
        var tiles: [TileFrontier.Tile] = []
        var expected = first
        for leaf in leaves {
            guard leaf.position == expected else { break }
            expected += 1
            guard let hash = leaf.hash else {
                throw Stop.halt(.forgedEvent(position: leaf.position))
            }
            if leaf.position == tree.size {
                guard hash == tree.newestLeaf else {
                    throw Stop.halt(.changedEvent(position: leaf.position))
                }
                continue
            }
            guard leaf.mac.withUnsafeBytes({ keys.isAuthentic(hash, mac: $0) }) else {
                throw Stop.halt(.forgedEvent(position: leaf.position))
            }
            tree.frontier.append(hash) { tiles.append($0) }
            tree.newestLeaf = hash
        }
        guard expected == end + 1 else { throw Stop.halt(.missingEvent(position: expected)) }
        return tiles
    }

    private func sign(_ tree: inout SealedTree) throws {
        let checkpoint = Checkpoint(
            origin: signer.verifier.name, size: tree.size, root: tree.frontier.root,
            epoch: try TamperTable.epoch(of: realm, on: connection))
        guard let signed = try? checkpoint.signed(by: signer) else {
            throw Stop.halt(.unableToSign)
        }
        tree.checkpoint = signed
    }
}
