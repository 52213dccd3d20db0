internal import HTTP
internal import JSON
internal import ReadModels

/// Hands a case file out. Its last line goes out only where the whole is what was put on record.
struct CaseDownload: Sendable {
    let maker: CaseMaker
    /// Bounds how many are under way, and ends with the caller's key.
    let place: FeedPlace

    /// The file would be another one than was issued, or its reader may not have it any more.
    private struct Broken: Error {}

    private func make(_ take: ([UInt8]) async throws -> Void) async throws {
        var start = CaseProgress()
        start.checkpoint = maker.job.progress.checkpoint
        var held: [UInt8] = []
        let whole = try await maker.make(from: start) { piece, _ in
            guard place.standing == .good else { throw Broken() }
            if !held.isEmpty { try await take(held) }
            held = piece
        }
        guard whole.chain == maker.job.progress.chain else { throw Broken() }
        try await take(held)
    }

    var lines: Response {
        var response = Response(
            status: .ok,
            stream: BodyStream { writer in try await make { try await writer.write($0) } })
        response.headers["Content-Type"] = "application/x-ndjson"
        response.headers["Content-Disposition"] =
            "attachment; filename=\"case-\(maker.job.id).jsonl\""
        return response
    }

    var page: Response {
        var response = Response(
            status: .ok,
            stream: BodyStream { writer in
                var lines: [JSON] = []
                try await make { piece in
                    for line in piece.split(separator: 0x0A) {
                        lines.append(try JSON.parse(Array(line)))
                    }
                }
                try await writer.write(CasePage(lines: lines).html)
            })
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] = CasePage.policy
        return response
    }
}
