package import EventSourcing
package import JSON
package import Values

/// The changes of a web app.
package enum WebAppChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<WebApp>, Rejection>
    package typealias NotFound = Identity.NotFound<WebApp>

    package enum RegisterRejection: Error, Equatable, Sendable {
        case idTaken
        /// Another one, or a face of the realm, goes by it.
        case slugTaken
        /// Another web app has this origin.
        case originTaken
        case invalid(FieldFault)
    }

    /// Makes a web app or a konnector known to a realm.
    /// - Parameter members: By name, as the caller sent it.
    package static func register(_ id: UUID, members: JSONObject) -> Change<RegisterRejection> {
        Change(
            of: id,
            whenTaken: .slugTaken, byKind: [WebAppCard.originClaim("").kind: .originTaken]
        ) { facts throws(RegisterRejection) in
            guard !facts.thing.exists else { throw .idTaken }
            let card: WebAppCard
            do throws(FieldFault) {
                card = try WebAppCard(members)
            } catch {
                throw .invalid(error)
            }
            var decision = Decision(WebAppEvent.registered(card), in: id)
            for claim in card.claims { decision.take(claim, for: id) }
            return decision
        }
    }

    package enum UpdateRejection: Error, Equatable, Sendable {
        case notFound
        case originTaken
        case invalid(FieldFault)
    }

    /// Changes the description of a web app or a konnector, and keeps members that are left out. Kind and slug
    /// cannot change.
    /// - Parameter changes: By name; null takes something back.
    package static func update(_ id: UUID, changes: JSONObject) -> Change<UpdateRejection> {
        Change(of: id, whenTaken: .originTaken) { facts throws(UpdateRejection) in
            guard let known = facts.thing.living else { throw .notFound }
            for name in ["kind", "slug"] {
                guard let said = changes[name] else { continue }
                guard said == known.fields[name] else {
                    throw .invalid(FieldFault(name, .mismatch))
                }
            }
            let card: WebAppCard
            do throws(FieldFault) {
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
                if let origin = card.origin {
                    decision.take(WebAppCard.originClaim(origin), for: id)
                }
            }
            return decision
        }
    }

    /// Takes a web app or a konnector out of a realm. Its tokens are over, and its name is free.
    package static func remove(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard let card = facts.thing.living else { throw .notFound }
            var decision = Decision(WebAppEvent.removed, in: id)
            for claim in card.claims { decision.release(claim, by: id) }
            return decision
        }
    }
}
