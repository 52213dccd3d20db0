internal import EventSourcing
internal import Identity
internal import Values

/// What an account's events know of its person.
struct KnownPerson {
    let person: Person
    let isConfirmed: Bool
    let roles: GivenRoles
    /// Its keys are destroyed.
    let isErased: Bool
    /// When what is known of the person was last changed.
    let changedAt: Timestamp?

    /// Nil where there is no account, or none any more.
    init?(_ events: [Recorded]) {
        var (person, isConfirmed, isErased) = (Person(), false, false)
        var changedAt: Timestamp?
        var roles = GivenRoles()
        var isRegistered = false
        for recorded in events {
            switch AccountEvent(recorded) {
            case .registered(_, let confirmed, _, let known):
                (person, isConfirmed) = (known, confirmed)
                isRegistered = true
                changedAt = recorded.at
                isErased = recorded.personal.isGone
            case .personChanged(let known):
                person = known
                changedAt = recorded.at
                isErased = recorded.personal.isGone
            case .mailboxChanged(_, let confirmed, _, _): isConfirmed = confirmed
            case .mailboxConfirmed, .mailboxMoved, .addressesChanged: isConfirmed = true
            case .rolesChanged(let given): roles = given
            case .deleted: return nil
            case .imported, .disabled, .enabled, .stampRotated, .accessRemoved, .proofsEnded,
                .deletionScheduled, .deletionCancelled, .erased, nil:
                break
            }
        }
        guard isRegistered else { return nil }
        self.person = person
        self.isConfirmed = isConfirmed
        self.roles = roles
        self.isErased = isErased
        self.changedAt = changedAt
    }
}
