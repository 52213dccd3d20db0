package import EventSourcing
package import JSON
package import Values

/// The changes of an app.
package enum AppChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<App>, Rejection>
    package typealias NotFound = Identity.NotFound<App>

    package enum CreateRejection: Error, Equatable, Sendable {
        case idTaken
        case slugTaken
        case invalid(FieldFault)
    }

    /// Gives a realm another face, with a sub-domain of its own.
    /// - Parameter slug: The sub-domain, under the realm's primary domain.
    package static func create(_ id: UUID, slug: String, name: String) -> Change<CreateRejection> {
        Change(of: id, whenTaken: .slugTaken) { facts throws(CreateRejection) in
            guard !facts.thing.exists else { throw .idTaken }
            do throws(FieldFault) {
                try App.check(slug: slug)
                try App.check(name: name)
            } catch {
                throw .invalid(error)
            }
            var decision = Decision(AppEvent.created(slug: slug, name: name), in: id)
            decision.take(App.claim(slug), for: id)
            return decision
        }
    }

    package enum UpdateRejection: Error, Equatable, Sendable {
        case notFound
        case slugTaken
        case invalid(FieldFault)
    }

    /// Changes an app's sub-domain, name or settings, and leaves the rest as it is.
    /// - Parameter settings: By name; null lets the realm's value hold again.
    package static func update(
        _ id: UUID, slug: String? = nil, name: String? = nil, settings: JSONObject = [:]
    ) -> Change<UpdateRejection> {
        Change(of: id, whenTaken: .slugTaken) { facts throws(UpdateRejection) in
            guard facts.thing.isAlive else { throw .notFound }
            let app = facts.thing.state
            var change = AppEvent.Change()
            do throws(FieldFault) {
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
    }

    /// Removes an app and frees its sub-domain. None of its clients is left: the adapter looks for them,
    /// and one that comes to belong to it at this very moment gets no tokens (`RedeemGrant`).
    package static func delete(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.isAlive else { throw .notFound }
            var decision = Decision(AppEvent.deleted, in: id)
            decision.release(App.claim(facts.thing.state.slug), by: id)
            return decision
        }
    }
}
