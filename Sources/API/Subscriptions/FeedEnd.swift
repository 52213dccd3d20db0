internal import EventSourcing
internal import HTTP
internal import JSON
internal import ReadModels
internal import Telemetry

// How a feed ends that cannot go on: its last frame says why.
extension FeedStream {
    @inline(never)
    func end(_ problem: Problem, _ writer: BodyStream.Writer) async throws {
        if problem.kind == .logDamaged { place.feeds.holes.add() }
        try await writer.write(form.error(problem))
    }

    /// Another reader has the cursor now, or there is none any more.
    func leave(_ lease: FeedLease, _ writer: BodyStream.Writer) async throws {
        guard await lease.isTakenOver() else {
            return try await end(Problem(.noSuchSubscription), writer)
        }
        try await writer.write(form.told("urd.taken_over", at: nil, [:]))
    }

    @inline(never)
    func endLost(keptTo kept: Int64, _ epoch: Int, _ writer: BodyStream.Writer) async throws {
        try await end(Problem(lostBehind: kept, epoch: epoch), writer)
    }

    @inline(never)
    func end(_ failure: FollowFailure, _ writer: BodyStream.Writer) async throws {
        let problem =
            switch failure {
            case .hole(let position):
                Problem(.logDamaged, "Position \(position) is missing; urd verify says more.")
            case .log(let failure): Problem(of: failure)
            }
        try await end(problem, writer)
    }
}
