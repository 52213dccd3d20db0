internal import Identity
internal import ReadModels

/// What holds of all jobs that are asked for here.
extension DurableJob {
    func requireReady(otherwise notReady: ProblemKind, gone: ProblemKind) throws(Problem) {
        switch state {
        case .waiting, .running: throw Problem(notReady, "It is being made.")
        case .failed:
            throw Problem(notReady, "It cannot be made: \(fault?.rawValue ?? "unknown").")
        case .cancelled: throw Problem(gone, "It was cancelled.")
        case .ready: break
        }
        if isExpired {
            throw Problem(gone, "It was kept for \(DurableJobStore<Kind>.keptHours) hours.")
        }
    }
}

extension Call<AdminContext> {
    /// A limited key ends what it asked for itself.
    func requireMayCancel<Kind>(
        _ job: DurableJob<Kind>, _ name: String
    ) throws(Problem) {
        try requireMayCancel(askedBy: job.asker, name)
    }

    func requireMayCancel(askedBy asker: String, _ name: String) throws(Problem) {
        if case .key(let key) = caller, asker != caller.actor, key.permissions != .all {
            throw Problem(
                .forbidden, "The \(name) belongs to the administrator who asked for it.")
        }
    }

    /// The position behind which a part of the log begins: a position is its first, and behind a time or day it begins.
    func rangeStart(asWritten written: String, _ name: String) async throws(Problem) -> Int64 {
        let moment = try await moment(asWritten: written, name)
        let isPosition = written.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isPosition ? moment.position - 1 : moment.position
    }
}
