public import EventSourcing
internal import JSON

/// Which events one subscription is sent: those that its filter wants and that its format has a form for. One
/// that ever had personal data is told of each erasure, so that it forgets.
public struct SubscriptionSelection: Sendable {
    private let filter: EventFilter
    private let format: SubscriptionTerms.Format
    private let isOwedErasures: Bool

    public static let erasure = "account.erased"

    public init(_ subscription: Subscription) {
        filter = subscription.terms.filter.events
        format = subscription.terms.format
        isOwedErasures = subscription.everIncludedPersonal
    }

    /// Nil for an event of a type that this version of Urd does not know, and so cannot send: another
    /// version can.
    public func wants(_ event: Recorded) -> Bool? {
        if isOwedErasures, event.name == Self.erasure { return true }
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
            if earlier.name == "account.roles_changed", event.name == earlier.name {
                formerRoles = GivenRoles(earlier.open["roles"])
            }
        }
    }
}
