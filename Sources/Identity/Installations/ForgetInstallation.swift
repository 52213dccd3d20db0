public import EventSourcing
public import Values

/// Removes an installation that the owner did not let in within an hour.
public struct ForgetInstallation: TimedCommand {
    public var id: UUID
    public var now: Timestamp

    public init(id: UUID, now: Timestamp) {
        self.id = id
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The installation does not exist, or has not lapsed.
        case notLapsed
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Client> {
        try await streams.read(Client.self, id)
    }

    public func decide(_ client: Versioned<Client>) throws(Rejection) -> Decision {
        guard let metadata = client.aliveMetadata, client.state.isLapsed(id, at: now) else {
            throw .notLapsed
        }
        var decision = Decision(ClientEvent.deleted, in: id)
        decision.release(Client.claim(client.state.clientID), by: id)
        decision.release(Installation.nameClaim(metadata.clientName ?? ""), by: id)
        return decision
    }
}
