package import EventSourcing
package import Values

/// The changes of an invite.
package enum InviteChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<Invite>, Rejection>

    package enum RevokeRejection: Error, Equatable, Sendable {
        case notFound
        case used
    }

    /// Revokes an unused invite.
    /// - Parameter app: An administrator of one app revokes the invites of that app only. Nil for all apps.
    package static func revoke(_ invite: UUID, app: UUID? = nil) -> Change<RevokeRejection> {
        Change(of: invite) { facts throws(RevokeRejection) in
            let state = facts.thing.state
            guard let terms = state.terms, !state.isRevoked, app == nil || terms.app == app else {
                throw .notFound
            }
            // The invite was used: it is part of that person's history.
            guard state.usedAt == nil else { throw .used }
            return Decision(InviteEvent.revoked, in: invite)
        }
    }
}
