public import EventSourcing
public import Values

/// One sign-in of one client: the family of all tokens that come of it.
public struct Session: StreamState {
    /// Nil before the session was opened.
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
    /// When it was given again on record, for the first time.
    public private(set) var repeatedAt: Timestamp?
    /// When it was made, or was given again on record.
    public private(set) var refreshedAt: Timestamp?
    /// The leaf that this one took the place of, where that had been given again on record; the same of the parent.
    public private(set) var leafTwin: DuplicateToken?
    public private(set) var parentTwin: DuplicateToken?
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
                let former = repeatedAt.map {
                    DuplicateToken(generation: self.generation, repeatedAt: $0, replacedAt: at)
                }
                if parent != self.parent {
                    parentUsedAt = at
                    parentTwin = leafTwin
                }
                leafTwin = parent == self.parent ? former : nil
                self.parent = parent
                (leafMadeAt, repeatedAt) = (at, nil)
            } else if repeatedAt == nil {
                repeatedAt = at
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

/// A token whose place another one took around the end of the leeway, while copies of one request were under way: it
/// is a second name of that one.
public struct DuplicateToken: Sendable, Equatable {
    public let generation: Int
    /// When its leeway began anew.
    public let repeatedAt: Timestamp
    public let replacedAt: Timestamp

    /// Copies come within half a leeway of each other. A later token replaced one that no client seemed to have: it is
    /// void.
    func isLiving(_ leeway: Int64) -> Bool {
        2 * (replacedAt.seconds - repeatedAt.seconds) <= 3 * leeway
    }
}
