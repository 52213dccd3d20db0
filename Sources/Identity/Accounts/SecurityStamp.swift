/// What the sessions of an account are held against: each carries the stamp as it was when it was opened.
public struct SecurityStamp: Sendable, Equatable, ExpressibleByIntegerLiteral {
    /// Moves on with everything that ends all sessions.
    public var number: Int
    /// How often the account moved to another mailbox while its sessions stayed. Those stay that more
    /// than the mailbox was shown for.
    public var moves: Int
    /// How often access was removed from a client or a device: sessions of one with a later removal are over.
    public var removals: Int

    public init(number: Int, moves: Int = 0, removals: Int = 0) {
        self.number = number
        self.moves = moves
        self.removals = removals
    }

    public init(integerLiteral number: Int) {
        self.init(number: number)
    }

    /// Whether what was opened under another one, after these factors, goes on under this one, as far as no
    /// removal of access says otherwise (`Account.keeps`).
    public func holds(_ opened: SecurityStamp, _ factors: [AuthenticationFactor]) -> Bool {
        opened.number == number && (opened.moves == moves || !factors.restOnMailbox)
    }
}

extension [AuthenticationFactor] {
    /// Whether a reader of the mailbox could have shown all of it.
    public var restOnMailbox: Bool {
        !isEmpty && allSatisfy { $0 == .mailedCode || $0 == .mailedLink }
    }
}
