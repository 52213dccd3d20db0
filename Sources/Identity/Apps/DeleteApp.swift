public import EventSourcing
public import Values

/// Removes an app and frees its sub-domain. None of its clients is left: the adapter looks for them,
/// and one that comes to belong to it at this very moment gets no tokens (`RedeemGrant`).
public struct DeleteApp: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<App>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<App> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<App>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        var decision = Decision(AppEvent.deleted, in: id)
        decision.release(App.claim(facts.thing.state.slug), by: id)
        return decision
    }
}
