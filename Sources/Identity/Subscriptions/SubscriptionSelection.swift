public import EventSourcing
internal import JSON

extension Subscription {
    public static let erasure = AccountEvent.Form.erased.name

    /// Which events it is sent. One that ever had personal data is told of each erasure, so that it forgets.
    public var wanted: EventFilter {
        var filter = terms.filter.events
        if everIncludedPersonal { filter.always.insert(Self.erasure) }
        return filter
    }
}

/// Which events one subscription is sent: those that its filter wants and that its format has a form for.
public struct SubscriptionSelection: Sendable {
    private let filter: EventFilter
    private let format: SubscriptionTerms.Format
    private let isReadable: Bool
    /// What the index has to say of those, beside.
    public let aboutWhom: FilterExpression?

    public init(_ subscription: Subscription) {
        filter = subscription.wanted
        format = subscription.terms.format
        isReadable = subscription.terms.filter.isReadable
        aboutWhom = subscription.terms.filter.aboutWhom
    }

    /// Those among these that the index decides on.
    public func undecided(among events: [Recorded]) -> [Recorded] {
        guard aboutWhom != nil else { return [] }
        return events.filter { !filter.always.contains($0.name) && wants($0) == true }
    }

    /// The types that it is sent events of, where they are named one by one: any other is not wanted.
    public var names: Set<String>? { isReadable ? filter.names : nil }

    /// By what an event says itself. Nil for an event of a type that this version of Urd does not know, and so cannot send: another
    /// version can.
    public func wants(_ event: Recorded) -> Bool? {
        if filter.always.contains(event.name) { return true }
        guard isReadable else { return nil }
        guard filter.wants(event) else { return false }
        guard EventFilter.Types.isKnown(event.name) else { return nil }
        return switch format {
        case .standard, .cloudEvents: true
        case .ocsf: OCSFFacts().rules(for: event).contains { !$0.isOnRequest }
        }
    }
}

extension OCSFFacts {
    /// From what happened before an event in its stream.
    public init(of event: Recorded, in stream: [Recorded]) {
        self.init()
        for earlier in stream where earlier.version < event.version {
            account = account ?? earlier.open.uuid("account")
            if earlier.name == AccountEvent.Form.rolesChanged.name, event.name == earlier.name {
                formerRoles = GivenRoles(earlier.open["roles"])
            }
        }
    }
}
