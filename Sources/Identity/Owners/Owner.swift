public import EventSourcing
public import Values

/// Whose realm it is, where it belongs to one person: the account that an app of the flagship profile
/// signs in to without naming it.
public struct Owner: StreamState {
    /// Nil until an account was appointed.
    public private(set) var account: UUID?
    /// The name that the register token follows from, and the generation of the account's proofs that it
    /// belongs to.
    private var token: (name: UUID, generation: Int)?
    public private(set) var isOnboarded = false
    public private(set) var needsMailedCode = false
    /// The installations that were let in and are still there, in the order in which they were.
    public private(set) var devices: [UUID] = []

    /// The address that they want to move to, while they do.
    private var move: PendingMove?
    private var vouched: TimedName?
    private var trusted: [TimedName] = []

    /// Trusted browsers at most; the oldest are forgotten.
    static let mostTrusted = 20

    /// The same in every realm, so that it needs no look-up.
    public static let stream = UUID(high: 0x7572_6400_0000_8000, low: 0x8000_0000_0000_0003)

    public init() {}

    public mutating func apply(_ event: OwnerEvent) {
        switch event {
        case .appointed(let account, let token, let generation):
            self.account = account
            self.token = (token, generation)
        case .invited: break
        case .onboarded:
            isOnboarded = true
            token = nil
        case .mailedCodesChanged(let isNeeded):
            needsMailedCode = isNeeded
            trusted = []
        case .moveRequested(let move): self.move = move
        case .moveEnded: move = nil
        case .mailboxVouched(let code): vouched = code
        case .browserTrusted(let browser):
            trusted = trusted.suffix(Self.mostTrusted - 1) + [browser]
        case .termsSigned: break
        case .deviceAdded(let device): devices.append(device.installation)
        case .deviceRemoved(let installation): devices.removeAll { $0 == installation }
        }
    }
}

extension Owner {
    /// The name that the token follows from by which the owner takes the realm over, while it is good.
    public func registerToken(of account: Account) -> UUID? {
        guard let token, token.generation == account.proofGeneration else { return nil }
        return token.name
    }

    /// Where the owner wants to move, while the link for it is not called off.
    public func pendingMove(of account: Account) -> PendingMove? {
        move?.generation == account.proofGeneration ? move : nil
    }

    /// The move that a cancellation ends, valid or not.
    var requestedMove: PendingMove? { move }

    /// Whether a code of this name stands for one that is mailed.
    func isVouched(_ name: UUID?, of account: Account, at now: Timestamp) -> Bool {
        guard let name, let vouched else { return false }
        return vouched.stands(for: name, of: account, at: now)
    }

    /// Whether the owner typed a mailed code in the browser that shows this name, not long ago.
    public func trusts(_ name: UUID?, of account: Account, at now: Timestamp) -> Bool {
        guard let name else { return false }
        return trusted.contains { $0.stands(for: name, of: account, at: now) }
    }

    /// Whether the realm lets in no more of them. What is counted is in the log, so that of two that come
    /// at once one is too many.
    public func isFull(_ settings: Settings) -> Bool {
        let limit = settings[SettingCatalogue.installationLimit]
        return limit > 0 && Int64(devices.count) >= limit
    }
}
