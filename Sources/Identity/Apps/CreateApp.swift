public import EventSourcing
public import Values

/// Gives a realm another face, with a sub-domain of its own.
public struct CreateApp: Command {
    public var id: UUID
    /// The sub-domain, under the realm's primary domain.
    public var slug: String
    public var name: String

    public init(id: UUID, slug: String, name: String) {
        self.id = id
        self.slug = slug
        self.name = name
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case slugTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<App> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<App>) throws(Rejection) -> Decision {
        guard !facts.thing.exists else { throw .idTaken }
        do {
            try App.check(slug: slug)
            try App.check(name: name)
        } catch {
            throw .invalid(error)
        }
        var decision = Decision(AppEvent.created(slug: slug, name: name), in: id)
        decision.take(App.claim(slug), for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .slugTaken }
}
