public import Values

/// What a policy would have done.
public enum PolicyOutcome: String, CaseIterable, Sendable {
    case refuse = "would_refuse"
    /// The person would have been asked for a second factor that they have.
    case interrupt = "would_interrupt"
    case satisfied
    case notApplicable = "not_applicable"
    /// The known facts do not decide.
    case unknown

    /// The outcome of a sign-in under several rules: refused if one rule refuses it, else unknown if one is unknown.
    static func together(_ outcomes: [PolicyOutcome]) -> PolicyOutcome {
        for outcome in [refuse, unknown, interrupt, satisfied] where outcomes.contains(outcome) {
            return outcome
        }
        return .notApplicable
    }
}

/// What a policy would have done to a session that is refreshed.
public enum RefreshOutcome: Sendable, Equatable {
    /// At this time, before the refresh.
    case ended(Timestamp)
    case satisfied
    case notApplicable
    case unknown

    public static let names = ["would_have_ended", "satisfied", "not_applicable", "unknown"]

    var index: Int {
        switch self {
        case .ended: 0
        case .satisfied: 1
        case .notApplicable: 2
        case .unknown: 3
        }
    }

    /// Of both lifetimes: the earlier end is the end.
    static func together(_ outcomes: [RefreshOutcome]) -> RefreshOutcome {
        var end: Timestamp?
        for case .ended(let time) in outcomes { end = min(end ?? time, time) }
        if let end { return .ended(end) }
        for outcome in [RefreshOutcome.unknown, .satisfied] where outcomes.contains(outcome) {
            return outcome
        }
        return .notApplicable
    }
}
