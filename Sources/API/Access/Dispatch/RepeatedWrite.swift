internal import EventSourcing
internal import Values

extension EventLog {
    /// The stored outcome of a repeated write with the same idempotency key, with its stream; nil for a new write. For objects
    /// that are looked up by a name that the write itself may have removed.
    func earlier(_ write: Write) async throws(LogFailure) -> (done: WriteReceipt, stream: UUID)? {
        switch try await outcome(of: write.command, digest: write.digest, in: write.realm) {
        case .duplicate(let positions)?:
            let events = try await events(from: positions.first, limit: 1, in: write.realm)
            guard let first = events.first, first.command == write.command else { return nil }
            return (WriteReceipt(write: write, positions: positions), first.stream)
        case .misused?: throw .misusedCommand
        case .won?, .conflict?, .taken?, nil: return nil
        }
    }
}

extension Problem {
    /// A repeat asks for a secret that followed from a version of the realm's key that is gone.
    static var secretRetired: Problem {
        Problem(
            .idempotencyKeyReused,
            "The realm's key has been replaced since: the secret cannot be given again.",
            field: "Idempotency-Key")
    }
}
