public import EventSourcing
public import Values

/// Takes a web app or a konnector out of a realm. Its tokens are over, and its name is free.
public struct RemoveWebApp: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<WebApp>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<WebApp> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<WebApp>) throws(Rejection) -> Decision {
        guard let card = facts.thing.living else { throw .notFound }
        var decision = Decision(WebAppEvent.removed, in: id)
        for claim in card.claims { decision.release(claim, by: id) }
        return decision
    }
}
