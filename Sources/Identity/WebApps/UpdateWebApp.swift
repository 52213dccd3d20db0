public import EventSourcing
public import JSON
public import Values

/// Changes the description of a web app or a konnector, and keeps members that are left out. Kind and slug
/// cannot change.
public struct UpdateWebApp: Command {
    public var id: UUID
    /// By name; null takes something back.
    public var changes: JSONObject

    public init(id: UUID, changes: JSONObject) {
        self.id = id
        self.changes = changes
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case originTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<WebApp> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<WebApp>) throws(Rejection) -> Decision {
        guard let known = facts.thing.living else { throw .notFound }
        for name in ["kind", "slug"] {
            guard let said = changes[name] else { continue }
            guard said == known.fields[name] else { throw .invalid(FieldFault(name, .mismatch)) }
        }
        let card: WebAppCard
        do {
            card = try WebAppCard(known.fields.merging(changes) { $1 })
        } catch {
            throw .invalid(error)
        }
        guard card != known else { return Decision() }
        var decision = Decision(WebAppEvent.updated(card), in: id)
        if card.origin != known.origin {
            if let origin = known.origin {
                decision.release(WebAppCard.originClaim(origin), by: id)
            }
            if let origin = card.origin { decision.take(WebAppCard.originClaim(origin), for: id) }
        }
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .originTaken }
}
