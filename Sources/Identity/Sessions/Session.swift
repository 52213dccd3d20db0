public import EventSourcing
public import Values

/// One sign-in of one client: the family of all tokens that come of it.
public struct Session: StreamState {
    /// Nil until it was opened.
    public private(set) var terms: SessionTerms?
    /// The number of the refresh token that is good now.
    public private(set) var generation = 0
    public private(set) var refreshedAt: Timestamp?
    public private(set) var end: SessionEnd?

    public init() {}

    public mutating func apply(_ event: SessionEvent) {
        switch event {
        case .opened(let terms): self.terms = terms
        case .refreshed(let generation, let at, let key):
            self.generation = generation
            refreshedAt = at
            if let key { terms?.key = key }
        case .ended(let reason, _, _): end = reason
        case .refused: break
        }
    }
}
