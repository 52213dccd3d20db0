public import EventSourcing
public import JSON
public import Values

/// Makes a web app or a konnector known to a realm.
public struct RegisterWebApp: Command {
    public var id: UUID
    /// By name, as the caller sent it.
    public var members: JSONObject

    public init(id: UUID, members: JSONObject) {
        self.id = id
        self.members = members
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        /// Another one, or a face of the realm, goes by it.
        case slugTaken
        /// Another web app has this origin.
        case originTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<WebApp> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<WebApp>) throws(Rejection) -> Decision {
        guard !facts.thing.exists else { throw .idTaken }
        let card: WebAppCard
        do {
            card = try WebAppCard(members)
        } catch {
            throw .invalid(error)
        }
        var decision = Decision(WebAppEvent.registered(card), in: id)
        for claim in card.claims { decision.take(claim, for: id) }
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection {
        kind == WebAppCard.originClaim("").kind ? .originTaken : .slugTaken
    }
}
