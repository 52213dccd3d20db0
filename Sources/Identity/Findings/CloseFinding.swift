public import EventSourcing
public import Values

/// Closes a finding: because nothing more of it happened, or on an administrator's word.
public struct CloseFinding: Command {
    public var id: UUID
    public var cause: ClosedFinding.Cause
    public var reason: String?
    /// Open findings about the same account, as far as they are known.
    public var others: [UUID]

    public init(
        id: UUID, cause: ClosedFinding.Cause, reason: String? = nil, others: [UUID] = []
    ) {
        self.id = id
        self.cause = cause
        self.reason = reason
        self.others = others
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case alreadyClosed
        case invalid(FieldFault)
    }

    public static let longestReason = 200
    /// An account has few open findings: one of a rule, and one of each session.
    public static let mostOthers = 50

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> FindingFacts {
        try await .read(id, besides: others, from: streams)
    }

    public func decide(_ facts: FindingFacts) throws(Rejection) -> Decision {
        let state = facts.finding.state
        guard let raised = state.raised else { throw .notFound }
        if let reason {
            do {
                try TextRule.label(reason, limit: Self.longestReason)
            } catch {
                throw .invalid(FieldFault("reason", error))
            }
        }
        guard state.isOpen else { throw .alreadyClosed }
        return Decision(
            FindingEvent.closed(
                ClosedFinding(
                    rule: raised.rule, account: raised.account, cause: cause, reason: reason,
                    risk: facts.risk(of: raised.account, from: state.level, to: nil))),
            in: id)
    }
}
