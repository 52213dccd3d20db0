public import EventSourcing
public import Values

/// Where commands go and streams come from: a `Dispatcher`, whatever log it writes to.
public protocol CommandPort: Sendable {
    func dispatch<C: Command>(
        _ command: C, in realm: RealmID, id: UUID, digest: [UInt8], origin: Origin
    ) async throws -> Dispatched

    /// All events of a stream, oldest first.
    func events(of stream: UUID, in realm: RealmID) async throws(LogFailure) -> [Recorded]
}

extension Dispatcher: CommandPort {
    public func events(
        of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [Recorded] {
        try await log.stream(stream, after: 0, in: realm)
    }
}
