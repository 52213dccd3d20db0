public import EventSourcing
public import JSON
public import Values

/// Changes an app's sub-domain, name or settings, and leaves the rest as it is.
public struct UpdateApp: Command {
    public var id: UUID
    public var slug: String?
    public var name: String?
    /// By name; null lets the realm's value hold again.
    public var settings: JSONObject

    public init(
        id: UUID, slug: String? = nil, name: String? = nil, settings: JSONObject = [:]
    ) {
        self.id = id
        self.slug = slug
        self.name = name
        self.settings = settings
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case slugTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<App> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<App>) throws(Rejection) -> Decision {
        guard facts.thing.isAlive else { throw .notFound }
        let app = facts.thing.state
        var change = AppEvent.Change()
        do {
            if let slug, slug != app.slug {
                try App.check(slug: slug)
                change.slug = slug
            }
            if let name, name != app.name {
                try App.check(name: name)
                change.name = name
            }
            change.settings = try app.settings.effective(settings, perApp: true)
        } catch {
            throw .invalid(error)
        }
        guard change != AppEvent.Change() else { return Decision() }
        var decision = Decision(AppEvent.updated(change), in: id)
        if let slug = change.slug {
            decision.release(App.claim(app.slug), by: id)
            decision.take(App.claim(slug), for: id)
        }
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .slugTaken }
}
