import EventSourcing
import Postgres

/// The events between the last signed root that held and the next one, looked at closely: which of
/// them was the first to be altered, and how.
///
/// A pass only says where something first did not fit. A signed root settles what the leaves must
/// have been, if any of the places that keep them (the tiles, the column, the events themselves)
/// still has that root. What differs from them first is the answer. If none has, the attacker has
/// altered them all, and the answer is a range.
struct VerificationWindow {
    let realm: RealmID
    let keys: RealmKeys
    /// The tree up to where everything held.
    let good: TileFrontier
    let file: SignedCheckpoint?
    let connection: Connection

    /// Larger windows are not looked at: the range is the answer then.
    private static let limit: Int64 = 4_000_000

    private struct Row {
        let position: Int64
        /// Nil: the columns can't be read.
        let derived: TreeHash?
        let stored: TreeHash?
        let isAuthentic: Bool
    }

    func explain(_ evidence: TamperEvidence) throws(Failure) -> Finding {
        let first = good.size + 1
        switch evidence {
        case .checkpoint(let size):
            return Finding(.checkpointForged, at: size, notBefore: first)
        case .row(let problem, let position):
            guard let root = try nextRoot(from: position) else {
                return Finding(problem, at: position, notBefore: first)
            }
            return try explain(root, evidence)
                ?? Finding(problem, at: position, notBefore: first)
        case .root(let size, let isFile):
            guard let root = try nextRoot(from: size) else {
                return Finding(.rootDiffers, at: size, notBefore: first)
            }
            return try explain(root, evidence)
                ?? Finding(isFile ? .fileDiffers : .rootDiffers, at: size, notBefore: first)
        case .tile(let level, let index):
            let start = index << Int64(TileAddress.height * (level + 1))
            let end = (index + 1) << Int64(TileAddress.height * (level + 1))
            guard let root = try nextRoot(from: end) else {
                return Finding(.tileChanged, at: start + 1)
            }
            return try explain(root, evidence) ?? Finding(.rootDiffers, at: end, notBefore: first)
        }
    }

    /// The next checkpoint with a good signature, by which the window can be judged.
    private func nextRoot(from size: Int64) throws(Failure) -> SignedCheckpoint? {
        var candidate = file.flatMap { $0.size >= size ? $0 : nil }
        var next = max(size, good.size + 1)
        while let row = try TamperTable.firstCheckpoint(realm, from: next, on: connection),
            row.size < candidate?.size ?? .max
        {
            if let signed = keys.checkpoint(row) {
                candidate = signed
                break
            }
            next = row.size + 1
        }
        return candidate
    }

    /// Nil where nothing that is stored has the signed root.
    private func explain(
        _ root: SignedCheckpoint, _ evidence: TamperEvidence
    ) throws(Failure) -> Finding? {
        let count = root.size - good.size
        guard count > 0, count <= VerificationWindow.limit else { return nil }
        let rows = try rows(upTo: root.size)
        guard let leaves = try sealedLeaves(rows, root) else { return nil }
        if let finding = firstDifference(rows, leaves) { return finding }
        return try judged(evidence)
    }

    /// The events are what was sealed: then it is something else that was altered.
    private func judged(_ evidence: TamperEvidence) throws(Failure) -> Finding? {
        switch evidence {
        case .row(let problem, let position):
            return Finding(problem, at: position)
        case .tile(let level, let index):
            return Finding(
                .tileChanged, at: try firstDifference(inTile: index, level: level))
        case .root(let size, _), .checkpoint(let size):
            return Finding(.rootDiffers, at: size, notBefore: good.size + 1)
        }
    }

    /// Which leaf of a stored tile is not that of its event.
    private func firstDifference(inTile index: Int64, level: Int) throws(Failure) -> Int64 {
        let start = index << Int64(TileAddress.height * (level + 1))
        guard level == 0,
            let stored = try TamperTable.tiles(
                realm, level: 0, index...index, on: connection)[index]
        else { return start + 1 }
        let leaves = try TamperTable.leaves(
            realm, start + 1...start + Int64(TileAddress.fullWidth), on: connection)
        return leaves.first { $0.hash != stored[Int($0.position - start - 1)] }?.position
            ?? start + 1
    }

    // MARK: - What was sealed

    private func rows(upTo last: Int64) throws(Failure) -> [Row] {
        var rows: [Row] = []
        var record = RecordBuffer()
        let name = Array(realm.name.utf8)
        try EventCopy.read(realm, good.size + 1...last, isFirst: true, on: connection) { bytes in
            guard let event = EventColumns(bytes) else {
                let before = rows.last?.position ?? good.size
                rows.append(
                    Row(position: before + 1, derived: nil, stored: nil, isAuthentic: false))
                return
            }
            event.writeRecord(realm: name, into: &record)
            let derived = event.hasWholeObjects ? record.leaf : nil
            rows.append(
                Row(
                    position: event.position, derived: derived, stored: event.leaf,
                    isAuthentic: event.leaf.map { keys.isAuthentic($0, mac: event.mac) } ?? false))
        }
        return rows
    }

    private func sealedLeaves(
        _ rows: [Row], _ root: SignedCheckpoint
    ) throws(Failure) -> [TreeHash]? {
        let count = Int(root.size - good.size)
        for candidate in [rows.map(\.derived), rows.map(\.stored)] {
            let leaves = candidate.compactMap { $0 }
            if leaves.count == count, has(root, leaves) { return leaves }
        }
        guard let leaves = try leavesOfTiles(rows, upTo: root.size), has(root, leaves) else {
            return nil
        }
        return leaves
    }

    private func has(_ root: SignedCheckpoint, _ leaves: [TreeHash]) -> Bool {
        var tree = good
        for leaf in leaves { tree.append(leaf) { _ in } }
        return tree.root == root.root
    }

    /// From the tiles where they are full, from the column behind them.
    private func leavesOfTiles(_ rows: [Row], upTo size: Int64) throws(Failure) -> [TreeHash]? {
        let firstTile = good.size >> Int64(TileAddress.height)
        let lastTile = (size - 1) >> Int64(TileAddress.height)
        let tiles = try TamperTable.tiles(realm, level: 0, firstTile...lastTile, on: connection)
        var columns: [Int64: TreeHash] = [:]
        for row in rows { columns[row.position] = row.stored }
        var leaves: [TreeHash] = []
        leaves.reserveCapacity(Int(size - good.size))
        for index in good.size..<size {
            let leaf =
                tiles[index >> Int64(TileAddress.height)]?[Int(index & 255)] ?? columns[index + 1]
            guard let leaf else { return nil }
            leaves.append(leaf)
        }
        return leaves
    }

    // MARK: - What is there instead

    private func firstDifference(_ rows: [Row], _ leaves: [TreeHash]) -> Finding? {
        let first = good.size + 1
        for (index, leaf) in leaves.enumerated() {
            let position = first + Int64(index)
            guard index < rows.count else { return Finding(.droppedTail, at: position) }
            let row = rows[index]
            if row.position > position { return Finding(.removed, at: position) }
            if row.position < position { return Finding(.inserted, at: row.position) }
            guard let derived = row.derived else { return Finding(.unreadable, at: position) }
            if derived != leaf {
                return Finding(problem(at: index, rows, leaves), at: position)
            }
            if row.stored != leaf { return Finding(.leafChanged, at: position) }
            if !row.isAuthentic { return Finding(.macChanged, at: position) }
        }
        return rows.count > leaves.count
            ? Finding(.inserted, at: rows[leaves.count].position) : nil
    }

    /// How the event at an index came to be another one than was sealed there.
    private func problem(
        at index: Int, _ rows: [Row], _ leaves: [TreeHash]
    ) -> Finding.Problem {
        let sealed = leaves[index]
        let found = rows[index].derived
        let isSealedElsewhere = leaves[(index + 1)...].contains { $0 == found }
        let isStillThere = rows[(index + 1)...].contains { $0.derived == sealed }
        if isSealedElsewhere { return isStillThere ? .reordered : .removed }
        if leaves[..<index].contains(where: { $0 == found }) { return .repeated }
        let isPushedBack = isStillThere && index + 1 < rows.count
        if isPushedBack, rows[index + 1].derived == sealed { return .inserted }
        if rows[index].stored == found, !rows[index].isAuthentic { return .forged }
        return .changed
    }
}
