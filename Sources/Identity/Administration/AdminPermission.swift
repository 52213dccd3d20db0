/// What an admin key that does not administer its realms may still do in them.
public enum AdminPermission: String, Sendable, CaseIterable {
    /// To read the log: events, proofs, checkpoints and feeds. Personal fields stay sealed.
    case eventsRead = "events.read"
    /// To open personal fields in what another permission shows; each time is on record.
    case eventsOpen = "events.open"
    /// To read the audit trail, findings and their rules.
    case auditRead = "audit.read"
    /// To read who signed in, who tried to, and what apps on devices did.
    case historyRead = "history.read"
    /// To read the log, the audit trail and the histories, and to open nothing.
    case analyst
    /// To manage what the realm's events are sent to. No event is read by it.
    case subscriptionsManage = "subscriptions.manage"

    /// The permissions that this permission includes.
    var implied: Set<AdminPermission> {
        switch self {
        case .analyst: [.eventsRead, .auditRead, .historyRead]
        case .eventsRead, .eventsOpen, .auditRead, .historyRead, .subscriptionsManage: []
        }
    }
}

/// What an admin key may do in the realms that it opens.
public enum AdminPermissions: Equatable, Sendable {
    /// Everything: the key administers them.
    case all
    case only(Set<AdminPermission>)

    /// Nil where a name is none of a permission: a key whose permissions cannot be read must not be used, for it
    /// would be another key than the one that was created.
    public init?(names: [String]) {
        let permissions = names.compactMap(AdminPermission.init)
        guard permissions.count == names.count else { return nil }
        self = .only(Set(permissions))
    }

    /// The sorted names; nil for all permissions.
    public var names: [String]? {
        switch self {
        case .all: nil
        case .only(let permissions): permissions.map(\.rawValue).sorted()
        }
    }

    /// Whether the key may do what needs this permission. Nil: what only administrators may do.
    public func allow(_ permission: AdminPermission?) -> Bool {
        switch self {
        case .all: true
        case .only(let held):
            permission.map { needed in
                held.contains(needed) || held.contains { $0.implied.contains(needed) }
            } ?? false
        }
    }
}
