public import EventSourcing
public import Values

/// Revokes an unused invite.
public struct RevokeInvite: Command {
    public var invite: UUID
    /// An administrator of one app revokes the invites of that app only. Nil for all apps.
    public var app: UUID?

    public init(invite: UUID, app: UUID? = nil) {
        self.invite = invite
        self.app = app
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case used
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Invite> {
        try await .read(invite, from: streams)
    }

    public func decide(_ facts: InRealm<Invite>) throws(Rejection) -> Decision {
        let state = facts.thing.state
        guard let terms = state.terms, !state.isRevoked, app == nil || terms.app == app else {
            throw .notFound
        }
        // The invite was used: it is part of that person's history.
        guard state.usedAt == nil else { throw .used }
        return Decision(InviteEvent.revoked, in: invite)
    }
}
