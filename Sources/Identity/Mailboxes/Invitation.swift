internal import JSON
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

    var fields: JSONObject {
        var fields: JSONObject = ["invite": .uuid(invite)]
        fields["app"] = app.map { .uuid($0) }
        return fields
    }

    init?(fields: JSONObject) {
        guard let invite = fields.uuid("invite") else { return nil }
        self.init(invite: invite, app: fields.uuid("app"))
    }
}
