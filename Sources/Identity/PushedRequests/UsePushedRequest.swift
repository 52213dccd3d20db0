public import EventSourcing
public import Values

/// Uses up a request that its client had pushed: it is granted once.
public struct UsePushedRequest: Command {
    public var request: UUID
    public var account: UUID
    /// The client's stream.
    public var client: UUID

    public init(request: UUID, account: UUID, client: UUID) {
        self.request = request
        self.account = account
        self.client = client
    }

    public enum Rejection: Error, Equatable, Sendable {
        case used
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<PushedRequest> {
        try await streams.readNew(PushedRequest.self, request)
    }

    public func decide(_ facts: Versioned<PushedRequest>) throws(Rejection) -> Decision {
        guard !facts.state.isUsed else { throw .used }
        return Decision(PushedRequestEvent.used(account: account, client: client), in: request)
    }
}
