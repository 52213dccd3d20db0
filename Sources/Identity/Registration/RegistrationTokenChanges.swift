package import EventSourcing
package import Values

/// The changes of a registration token.
package enum RegistrationTokenChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<RegistrationToken>, Rejection>
    package typealias NotFound = Identity.NotFound<RegistrationToken>

    package static let mostUses: Int64 = 10_000
    package static let mostDays: Int64 = 365

    package enum CreateRejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    /// Makes a token by which so many clients may register themselves.
    /// - Parameter scope: As a client would ask for it, with spaces between.
    package static func create(
        _ id: UUID, label: String, uses: Int64 = 1, scope: String = "", days: Int64 = 7,
        now: Timestamp
    ) -> Change<CreateRejection> {
        Change(of: id, at: now) { facts, now throws(CreateRejection) in
            guard !facts.thing.exists else { throw .idTaken }
            do throws(FieldFault.Reason) { try TextRule.label(label, limit: 100) } catch {
                throw .invalid(FieldFault("label", error))
            }
            guard (1...Self.mostUses).contains(uses) else {
                throw .invalid(
                    FieldFault("uses", .outOfRange(lowest: 1, highest: Self.mostUses)))
            }
            guard (1...Self.mostDays).contains(days) else {
                throw .invalid(
                    FieldFault("expires_in_days", .outOfRange(lowest: 1, highest: Self.mostDays)))
            }
            guard let names = Scope.parse(scope), Set(names).count == names.count else {
                throw .invalid(FieldFault("scope", .malformed))
            }
            let terms = RegistrationTerms(
                label: label, uses: Int(clamping: uses), scope: names,
                expiresAt: now.adding(seconds: days * 86_400))
            return Decision(RegistrationTokenEvent.created(terms), in: id)
        }
    }

    /// Lets no more clients come by a registration token. Clients that registered with it stay.
    package static func revoke(_ id: UUID) -> Change<NotFound> {
        Change(of: id) { facts throws(NotFound) in
            guard facts.thing.exists, !facts.thing.state.isRevoked else { throw .notFound }
            return Decision(RegistrationTokenEvent.revoked, in: id)
        }
    }
}
