internal import EventSourcing
public import Values

/// That a person with a mailbox used an invite: however often the code that proves the mailbox has
/// to be mailed, one invite is enough.
public struct Invitation: Sendable, Equatable {
    public let invite: UUID
    /// What the invite was for. Nil: everything in the realm.
    public let app: UUID?

    public init(invite: UUID, app: UUID?) {
        self.invite = invite
        self.app = app
    }

    func admits(to app: UUID?) -> Bool { self.app == nil || self.app == app }
}

extension Field<Invitation> {
    static let invitation = record(
        .uuid("invite", "Invite that was used."), .optional(.app),
        make: { Invitation(invite: $0, app: $1) }, take: { ($0.invite, $0.app) })
}
