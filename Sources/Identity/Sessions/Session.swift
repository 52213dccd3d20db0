public import EventSourcing
public import Values

/// One sign-in of one client: the family of all tokens that come of it.
public struct Session: StreamState {
    /// Nil until it was opened.
    public private(set) var terms: SessionTerms?
    /// The number of the refresh token that is good now: the leaf.
    public private(set) var generation = 0
    /// The token that made the leaf; nil for the first one. What lies between the two is void: it
    /// was made by the same parent, and was not used.
    public private(set) var parent: Int?
    /// When the parent was redeemed for the first time.
    public private(set) var parentUsedAt: Timestamp?
    /// When the leaf was made.
    public private(set) var leafMadeAt: Timestamp?
    /// When it was made, or was given again on record.
    public private(set) var refreshedAt: Timestamp?
    /// The first of its refresh tokens that is bound to its key: the tokens before were given without one.
    public private(set) var firstBound: Int?
    public private(set) var end: SessionEnd?
    /// The browser that it came of signed out, and its client was told so.
    public private(set) var isDetached = false

    public init() {}

    public mutating func apply(_ event: SessionEvent) {
        switch event {
        case .opened(let terms):
            self.terms = terms
            if terms.key != nil { firstBound = 0 }
        case .refreshed(let generation, let at, let key, let parent):
            // An installation's token stays as it is, and so does a leaf that is given again.
            if generation != self.generation {
                let parent = parent ?? generation - 1
                if parent != self.parent { parentUsedAt = at }
                self.parent = parent
                leafMadeAt = at
            }
            self.generation = generation
            refreshedAt = at
            if let key {
                terms?.key = key
                if firstBound == nil { firstBound = generation }
            }
        case .ended(let reason, _, _): end = reason
        case .detached: isDetached = true
        case .refused: break
        }
    }
}
