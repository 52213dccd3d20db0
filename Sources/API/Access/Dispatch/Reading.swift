internal import EventSourcing

/// What is broken below is never the caller's fault: no failure of the log becomes a 4xx, but for
/// the one that speaks of the request itself.
func reading<Result>(
    _ read: () async throws(LogFailure) -> Result
) async throws(Problem) -> Result {
    do throws(LogFailure) {
        return try await retriedUntilDecided(read)
    } catch {
        throw Problem(of: error)
    }
}

extension Problem {
    init(of failure: LogFailure) {
        switch failure {
        case .busy: self.init(.busy)
        case .unavailable, .fenced: self.init(.unavailable)
        case .full: self.init(.unavailable, "The database's disk is full.")
        case .contended, .keyMissing: self.init(.contended)
        case .misusedCommand: self.init(.idempotencyKeyReused, field: "Idempotency-Key")
        case .refused: self.init(.internalError)
        case .damaged: self.init(.logDamaged)
        case .otherMasterKey:
            self.init(
                .unavailable, "The keys need another master key than the one of this server.")
        }
    }
}
