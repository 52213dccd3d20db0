internal import EventSourcing
internal import HTTP
internal import JSON
internal import ReadModels
internal import Telemetry
internal import Values

/// How a feed shows that nothing is withheld and nothing is changed: the leaves of all events, the records
/// that they are the hashes of, and the checkpoints that sign the root of them all.
struct FeedProof: Sendable {
    let queries: any LogProofQueries
    let realm: RealmID
    let showsLeaves: Bool
    let showsRecords: Bool

    /// The newest checkpoint, if it is signed at another size than this one.
    fileprivate func checkpoint(beyond size: Int64) async -> (size: Int64, note: String)? {
        guard let note = try? await queries.checkpoint(of: realm) else { return nil }
        let text = String(decoding: note, as: UTF8.self)
        // The second line of a C2SP tlog-checkpoint.
        let lines = text.split(separator: "\n", maxSplits: 2)
        guard lines.count > 1, let signed = Int64(lines[1]), signed > size else { return nil }
        return (signed, text)
    }
}

extension FeedStream {
    /// Moves the follower behind these events, unless their records cannot be read now.
    @inline(never)
    func send(
        _ events: [Recorded], _ selection: FeedSelection, _ proof: FeedProof,
        _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws {
        guard let first = events.first, let last = events.last else { return }
        var records: [[UInt8]] = []
        if proof.showsRecords {
            let positions = first.position...last.position
            let read = try? await proof.queries.records(at: positions, of: proof.realm)
            guard let read, read.count == events.count else {
                // Nothing is lost: it is read again.
                return try await Task.sleep(for: .milliseconds(250))
            }
            records = read
        }
        var out: [UInt8] = []
        for (index, event) in events.enumerated() {
            let cursor = LogCursor(epoch: progress.cursor.epoch, position: event.position)
            if selection.wants(event) {
                out += leaves(&progress)
                out += form.event(
                    event, at: cursor, record: proof.showsRecords ? records[index] : nil)
                progress.told = event.position
                place.feeds.sent.add()
            } else if proof.showsLeaves {
                progress.leaves.append(event.leaf)
            }
            progress.cursor = cursor
            if progress.leaves.count >= Self.unspokenEvents { out += leaves(&progress) }
            if out.count >= Self.piece {
                try await say(out, &progress, writer)
                out = []
            }
        }
        if !out.isEmpty {
            try await say(out, &progress, writer)
        }
        try await tellCheckpoint(proof, &progress, writer)
    }

    /// The leaves of what was left out since the follower was last told of its place.
    func tellLeaves(_ progress: inout Progress, _ writer: BodyStream.Writer) async throws {
        let out =
            progress.leaves.isEmpty
            ? form.progress(at: progress.cursor, head: following.last) : leaves(&progress)
        try await say(out, &progress, writer)
        progress.told = progress.cursor.position
    }

    private func leaves(_ progress: inout Progress) -> [UInt8] {
        guard !progress.leaves.isEmpty else { return [] }
        defer {
            progress.told = progress.cursor.position
            progress.leaves = []
        }
        let first = progress.cursor.position - Int64(progress.leaves.count) + 1
        return form.told(
            "urd.leaves", at: progress.cursor,
            [
                "from": .integer(first),
                "leaves": .array(
                    progress.leaves.map { .string(Base64URL.encode($0.bytes)) }),
            ])
    }

    /// Each new checkpoint, once the follower has all that it signs.
    func tellCheckpoint(
        _ proof: FeedProof, _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws {
        guard proof.showsLeaves, progress.proven < progress.cursor.position,
            progress.askedAt != following.ticks
        else { return }
        // There is a new one once a second at most.
        progress.askedAt = following.ticks
        guard let (size, note) = await proof.checkpoint(beyond: progress.proven),
            size <= progress.cursor.position
        else { return }
        let frame = form.told("urd.checkpoint", at: nil, ["checkpoint": .string(note)])
        try await writer.write(leaves(&progress) + frame)
        progress.proven = size
    }
}
