internal import EventSourcing
internal import JSON
internal import ReadModels
internal import Values

/// Makes the lines of a case file from the log: when it is asked for, and again each time it is handed out. The
/// same question has the same lines, as long as nothing in them was erased.
struct CaseMaker: Sendable {
    static let mostRecords: Int64 = 100_000
    private static let page = 250
    private static let tiles = 16

    let index: any QuestionPort
    let cases: any CaseFiles
    let job: CaseFileJob

    /// What is done with a piece of the file, and how far it goes.
    typealias Take = (_ piece: [UInt8], _ progress: CaseProgress) async throws -> Void

    /// Makes what is behind the progress that was kept.
    /// - Returns: the end of the whole; its hash is of all lines before the manifest.
    func make(from start: CaseProgress, _ take: Take) async throws -> CaseProgress {
        var progress = start
        var lines = CaseLines(after: start)
        if progress.lines == 0 {
            let opening = lines.opening(job)
            progress.note(lines)
            try await take(opening, progress)
        }
        while true {
            let found = try await positions(after: progress.position)
            let piece = try await records(at: found.positions, &lines, &progress)
            if !piece.isEmpty { try await take(piece, progress) }
            if found.isLast { break }
        }
        guard progress.records > 0 else { throw CaseFileJob.Fault.empty }
        return try await end(lines, progress, take)
    }

    /// Whether all that the file opens can still be opened.
    func isUnchanged() async throws(LogFailure) -> Bool {
        guard job.question.opens else { return true }
        return try await cases.extent(of: try await allPositions(), in: job.realm).openable
            == job.progress.opened
    }

    func allPositions() async throws(LogFailure) -> [Int64] {
        var all: [Int64] = []
        while true {
            let found = try await positions(after: all.last ?? 0)
            all += found.positions
            if found.isLast || all.count > Self.mostRecords { return all }
        }
    }

    private func positions(
        after position: Int64
    ) async throws(LogFailure) -> (positions: [Int64], isLast: Bool) {
        guard let references = job.question.references else { return ([], true) }
        let found = try await index.ask(
            EventReferences.positions, (references, position, Self.page), in: job.realm
        ).value
        let wanted = found.filter { $0 <= job.question.until }
        return (wanted, wanted.count < Self.page)
    }

    private func records(
        at positions: [Int64], _ lines: inout CaseLines, _ progress: inout CaseProgress
    ) async throws -> [UInt8] {
        guard let last = positions.last else { return [] }
        let events = try await cases.evidence(
            at: positions, under: job.progress.checkpoint, opens: job.question.opens,
            in: job.realm)
        let references = try await index.ask(
            EventReferences.ofPositions, positions, in: job.realm
        ).value
        var piece: [UInt8] = []
        for event in events {
            piece += lines.record(event)
            piece += lines.related(event.position, references[event.position] ?? [])
            piece += lines.opened(event)
            progress.records += 1
            switch event.personal {
            case .opened, .unprovable: progress.opened += 1
            case .none, .sealed, .erased, .unreadable: break
            }
        }
        guard progress.records <= Self.mostRecords else { throw CaseFileJob.Fault.tooManyRecords }
        progress.position = last
        progress.note(lines)
        return piece
    }

    private func end(
        _ written: CaseLines, _ progress: CaseProgress, _ take: Take
    ) async throws -> CaseProgress {
        // What was kept goes up to the records: what follows them is made at once.
        var (lines, whole) = (written, progress)
        let extent = try await cases.extent(of: try await allPositions(), in: job.realm)
        var piece: [UInt8] = []
        for part in extent.streams { piece += lines.stream(part) }
        try await take(piece, progress)
        if job.question.isComplete {
            var tile: Int64 = 0
            while true {
                let tiles = try await cases.leaves(
                    fromTile: tile, count: Self.tiles, under: job.progress.checkpoint,
                    in: job.realm)
                if tiles.isEmpty { break }
                piece = []
                for leaves in tiles {
                    piece += lines.leaves(from: tile * 256 + 1, leaves)
                    tile += 1
                }
                try await take(piece, progress)
            }
        }
        whole.note(lines)
        let note = try await cases.sign(
            job.id, lines: lines.count, chain: lines.chain, in: job.realm)
        try await take(lines.manifest(whole, note: note), progress)
        return whole
    }
}

extension CaseProgress {
    fileprivate mutating func note(_ lines: CaseLines) {
        chain = lines.chain
        self.lines = lines.count
    }
}
