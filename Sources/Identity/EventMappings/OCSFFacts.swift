public import EventSourcing
internal import JSON
public import Values

/// What a record of OCSF may need to know that its event does not say.
public struct OCSFFacts: Sendable {
    /// Whom the event's session, device or credential belongs to.
    public var account: UUID?
    /// The account's roles before they were replaced. Without them, all that it has now count as new.
    public var formerRoles: GivenRoles?
    /// Whether what was set is new; where it is not known, the stream's version tells.
    public var isNew: Bool?

    public init(account: UUID? = nil, formerRoles: GivenRoles? = nil, isNew: Bool? = nil) {
        self.isNew = isNew
        self.account = account
        self.formerRoles = formerRoles
    }

    /// The records that an event becomes, most of them one; none where it is how other things are done.
    public func rules(for event: Recorded) -> [OCSFRule] {
        OCSFTable.rules(for: event.name).filter { holds($0.condition, for: event) }
    }

    public func account(of event: Recorded) -> UUID? {
        event.namedAccount ?? account
    }

    /// Those that a record of user access is about.
    public func privileges(of event: Recorded, _ rule: OCSFRule) -> [String] {
        switch event.name {
        case AccountEvent.Form.rolesChanged.name:
            let change = roles(of: event)
            return (rule.condition == .ifPrivilegesGone ? change.gone : change.new).sorted()
        case OwnerEvent.Form.appointed.name: return ["owner"]
        default: return event.open.texts("scope") ?? []
        }
    }

    private func roles(of event: Recorded) -> (new: Set<String>, gone: Set<String>) {
        let now = names(GivenRoles(event.open["roles"]))
        let before = names(formerRoles)
        return (now.subtracting(before), before.subtracting(now))
    }

    /// A role is a name by audience.
    private func names(_ roles: GivenRoles?) -> Set<String> {
        Set(
            (roles?.byAudience ?? [:]).flatMap { audience, roles in
                roles.map { "\(audience)#\($0)" }
            })
    }

    private func holds(_ condition: OCSFRule.Condition, for event: Recorded) -> Bool {
        let isReset =
            event.open["purpose"]?.string == MailedLink.Purpose.passphraseReset.rawValue
        return switch condition {
        case .always: true
        case .forPassphraseReset: isReset
        case .forAnotherPurpose: !isReset
        case .ifNeeded: event.open["needed"]?.bool == true
        case .ifNotNeeded: event.open["needed"]?.bool != true
        case .ifImpersonated: event.open["impersonator"] != nil
        case .unlessImpersonated: event.open["impersonator"] == nil
        case .ifFirst: isNew ?? (event.version == 1)
        case .ifLater: !(isNew ?? (event.version == 1))
        // No event is without a record.
        case .ifPrivilegesNew: !roles(of: event).new.isEmpty || roles(of: event).gone.isEmpty
        case .ifPrivilegesGone: !roles(of: event).gone.isEmpty
        }
    }
}
