import EventSourcing
import Laws
import Postgres
import Threads
import Values

/// One verification, inside one snapshot of the database. This thread reads and hands over page by
/// page; a second one hashes and compares.
struct VerificationRun {
    /// What was found outside the database.
    enum Copy: Sendable {
        case none
        case note([UInt8])
        case unreadable
    }

    let realm: RealmID
    let keys: RealmKeys
    let copy: Copy
    let pageLength: Int64
    let holdsLaws: Bool
    let connection: Connection
    let progress: @Sendable (VerificationProgress) -> Void

    /// What the second thread knows when it is done.
    private struct Passed: Sendable {
        let evidence: TamperEvidence?
        let frontier: TileFrontier
        let good: TileFrontier
        let checkpoints: Int
        let versions: VersionTable
        let inherited: [UUID: Int32]
        let startsInside: Bool
        let laws: LawFindings?
    }

    func verify(from position: Int64) throws(Failure) -> Verification {
        var file: SignedCheckpoint?
        switch copy {
        case .none: break
        case .unreadable: return failed(.fileUnreadable)
        case .note(let note):
            let accepted = try AcceptedLosses(realm, keys: keys, on: connection)
            file = keys.checkpoint(note)
            guard file != nil || accepted.coverUnsigned(note) else {
                return failed(.fileUnreadable)
            }
            if let signed = file, accepted.cover(signed) { file = nil }
        }
        let start = try start(before: position)
        let last = try lastPosition()
        let stored = try TamperTable.lastCheckpoint(realm, on: connection)
        let sealed = max(stored?.size ?? 0, file?.size ?? 0)
        // The database has the tiles of what it has checkpoints of. A file may know of more: of a log
        // that was set back between an append and its seal.
        let passed = try pass(
            from: start, to: last, tiled: stored?.size ?? 0, file)
        let window = VerificationWindow(
            realm: realm, keys: keys, good: passed.good, file: file, connection: connection)
        var finding: Finding?
        if let evidence = passed.evidence {
            finding = try window.explain(evidence)
        } else {
            finding = try end(of: passed, window: window, last: last, sealed: sealed)
            if finding == nil, let file, file.size > stored?.size ?? 0 {
                finding = Finding(.checkpointRemoved, at: file.size)
            }
        }
        return Verification(
            realm: realm, first: start.size + 1, last: passed.frontier.size,
            sealed: passed.good.size, checkpoints: passed.checkpoints, finding: finding,
            laws: passed.laws)
    }

    /// Nothing could be verified: the finding is about the whole log.
    private func failed(_ problem: Finding.Problem) -> Verification {
        Verification(
            realm: realm, first: 1, last: 0, sealed: 0, checkpoints: 0,
            finding: Finding(problem, at: 1), laws: nil)
    }

    /// The largest tree before a position that a checkpoint and the stored tiles agree on.
    private func start(before position: Int64) throws(Failure) -> TileFrontier {
        guard position > 1,
            let row = try TamperTable.lastCheckpoint(realm, upTo: position - 1, on: connection),
            let signed = keys.checkpoint(row),
            let tree = try TileReader(realm, size: signed.size, on: connection).frontier(),
            tree.root == signed.root
        else { return TileFrontier() }
        return tree
    }

    private func lastPosition() throws(Failure) -> Int64 {
        var parameters = Parameters()
        parameters.add(realm.name)
        let rows = try connection.execute(readingLast, parameters)
        return rows.isNull(0, 0) ? 0 : rows.int64(0, 0)
    }

    // MARK: - Reading

    private func pass(
        from start: TileFrontier, to last: Int64, tiled: Int64, _ file: SignedCheckpoint?
    ) throws(Failure) -> Passed {
        let queue = VerificationQueue()
        let result = Monitor<Passed?>(nil)
        DedicatedThread.startRequired { [realm, keys, holdsLaws, progress] in
            var pass = VerificationPass(
                realm, keys: keys, start: start, tiled: tiled, holdsLaws: holdsLaws)
            let began = ContinuousClock.now
            var evidence: TamperEvidence?
            reading: while true {
                let work = queue.take()
                evidence = pass.take(work)
                progress(
                    VerificationProgress(
                        done: pass.position - start.size, total: last - start.size,
                        elapsed: began.duration(to: .now)))
                if evidence != nil { break }
                if case .end = work { break reading }
            }
            queue.stop()
            let passed = Passed(
                evidence: evidence, frontier: pass.frontier, good: pass.good,
                checkpoints: pass.checkpoints, versions: pass.versions,
                inherited: pass.inherited, startsInside: start.size > 0, laws: pass.laws)
            result.withLock { $0 = passed }
            result.wakeAll()
        }
        do throws(Failure) {
            try read(from: start.size + 1, to: last, file, into: queue)
        } catch {
            // The other thread must end before the connection is used again.
            _ = queue.put(.end)
            _ = result.wait { $0 }
            throw error
        }
        _ = queue.put(.end)
        return result.wait { $0 }
    }

    private func read(
        from first: Int64, to last: Int64, _ file: SignedCheckpoint?,
        into queue: VerificationQueue
    ) throws(Failure) {
        guard first <= last else { return }
        var next = first
        while true {
            // An intruder's last position may be as large as a position can be.
            let end = last - next < pageLength ? last : next + pageLength - 1
            guard try queue.put(.page(page(next...end, file))) else { return }
            guard try readRows(next...end, isFirst: next == first, into: queue) else { return }
            guard end < last else { return }
            next = end + 1
        }
    }

    private func page(
        _ positions: ClosedRange<Int64>, _ file: SignedCheckpoint?
    ) throws(Failure) -> VerificationWork.Page {
        var tiles: [VerificationWork.TilePlace: [TreeHash]] = [:]
        for level in 0..<TileFrontier.levels(of: positions.upperBound) {
            let done = TileAddress.fullTiles(level: level, size: positions.lowerBound - 1)
            let full = TileAddress.fullTiles(level: level, size: positions.upperBound)
            guard done < full else { continue }
            let stored = try TamperTable.tiles(
                realm, level: level, done...full - 1, on: connection)
            for (index, hashes) in stored { tiles[.init(level: level, index: index)] = hashes }
        }
        var checkpoints = try TamperTable.checkpoints(realm, positions, on: connection).map {
            VerificationWork.Stored(
                size: $0.size, signed: keys.checkpoint($0), isFile: false)
        }
        if let file, positions.contains(file.size) {
            let place = checkpoints.firstIndex { $0.size > file.size } ?? checkpoints.endIndex
            checkpoints.insert(.init(size: file.size, signed: file, isFile: true), at: place)
        }
        return .init(last: positions.upperBound, tiles: tiles, checkpoints: checkpoints)
    }

    /// False: the other thread wants no more. The rest of the page is read and thrown away then,
    /// because a COPY can't be left.
    private func readRows(
        _ positions: ClosedRange<Int64>, isFirst: Bool, into queue: VerificationQueue
    ) throws(Failure) -> Bool {
        var rows = VerificationWork.Rows()
        rows.bytes.reserveCapacity(rowsLength + 4096)
        var isWanted = true
        try EventCopy.read(realm, positions, isFirst: isFirst, on: connection) { row in
            guard isWanted else { return }
            rows.bytes.append(contentsOf: row)
            rows.ends.append(rows.bytes.count)
            guard rows.bytes.count >= rowsLength else { return }
            isWanted = queue.put(.rows(rows))
            rows.bytes.removeAll(keepingCapacity: false)
            rows.ends.removeAll(keepingCapacity: false)
            rows.bytes.reserveCapacity(rowsLength + 4096)
        }
        return isWanted && (rows.ends.isEmpty || queue.put(.rows(rows)))
    }

    // MARK: - The end of the log

    private func end(
        of passed: Passed, window: VerificationWindow, last: Int64, sealed: Int64
    ) throws(Failure) -> Finding? {
        if last < sealed { return try window.explain(.row(.droppedTail, position: last + 1)) }
        let head = try TamperTable.position(of: realm, on: connection)
        let good = passed.good.size
        if head > last { return Finding(.droppedTail, at: last + 1, notBefore: good + 1) }
        if head < last { return Finding(.headDisagrees, at: head + 1, notBefore: good + 1) }
        return try StreamHeads(
            realm: realm, startsInside: passed.startsInside, connection: connection
        ).compare(
            passed.versions, inherited: passed.inherited, last: last, good: good)
    }
}

private let rowsLength = 256 * 1024
private let readingLast = Statement(
    "verify_last", "select max(position) from urd.event where realm = $1")
