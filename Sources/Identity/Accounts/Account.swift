public import EventSourcing
public import Values

/// A person's account, as decisions see it: nothing of the person is in here.
public struct Account: StreamState {
    public private(set) var mailbox: UUID?
    public private(set) var isConfirmed = false
    public private(set) var isDisabled = false
    public private(set) var isDeleted = false
    /// Sessions carry the stamp that they were opened under, and end when it moves on.
    public private(set) var stamp = 0

    public init() {}

    public mutating func apply(_ event: AccountEvent) {
        switch event {
        case .registered(let mailbox, let isConfirmed, _, _):
            self.mailbox = mailbox
            self.isConfirmed = isConfirmed
        case .mailboxConfirmed: isConfirmed = true
        case .personChanged: break
        case .disabled:
            isDisabled = true
            stamp += 1
        case .enabled: isDisabled = false
        case .stampRotated: stamp += 1
        case .deleted:
            isDeleted = true
            stamp += 1
        }
    }
}

extension Versioned<Account> {
    /// It was registered and not deleted since.
    var isAlive: Bool { exists && !state.isDeleted }

    /// Its person may sign in and stay signed in.
    var isWelcome: Bool { isAlive && !state.isDisabled }
}
