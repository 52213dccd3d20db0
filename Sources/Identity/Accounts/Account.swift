public import EventSourcing
public import Values

/// A person's account, as decisions see it: nothing of the person is in here.
public struct Account: StreamState {
    /// Of its mail address, or of its phone number where it has no mail address.
    public private(set) var mailbox: UUID?
    /// Of its phone number beside a mail address. Where the account has both addresses, both are verified.
    public private(set) var phone: UUID?
    public private(set) var isConfirmed = false
    public private(set) var isDisabled = false
    /// The account is deleted then, unless the deletion is cancelled. Until then its person is kept
    /// out.
    public private(set) var deletionDue: Timestamp?
    /// An administrator ordered it.
    public private(set) var isDeletionAdministrators = false
    /// By which its person calls that off, where the person asked for it.
    private var keepLink: (mail: UUID, generation: Int)?
    public private(set) var isDeleted = false
    /// Subjects beside the account itself under which data of its person is sealed: the mailboxes that
    /// it left, and once it is deleted, the one that it had.
    public private(set) var subjects: [UUID] = []
    /// All keys of its person are destroyed.
    public private(set) var isErased = false
    /// What was given to it, whether or not the realm still knows it.
    public private(set) var roles = GivenRoles()
    /// Sessions carry the stamp that they were opened under, and end when it moves on (docs/ends.md).
    public private(set) var stamp: SecurityStamp = 0
    /// Mailed proofs carry the generation that they were issued under, and end when it moves on: with
    /// every change of the stamp, another mailbox and another passphrase (docs/mailed-proofs.md).
    public private(set) var proofGeneration = 0
    /// The number of the last removal of access from each place.
    public private(set) var removed: [AccessPlace: Int] = [:]

    public init() {}

    public mutating func apply(_ event: AccountEvent) {
        if event.endsProofs { proofGeneration += 1 }
        switch event {
        case .registered(let mailbox, let isConfirmed, _, _):
            self.mailbox = mailbox
            self.isConfirmed = isConfirmed
        case .mailboxConfirmed: isConfirmed = true
        case .mailboxChanged(let mailbox, let isConfirmed, let left, _):
            self.mailbox = mailbox
            self.isConfirmed = isConfirmed
            subjects.append(left)
            stamp.number += 1
        case .mailboxMoved(let mailbox, let left, _):
            self.mailbox = mailbox
            isConfirmed = true
            subjects.append(left)
            stamp.moves += 1
        case .addressesChanged(let addresses, let left, _):
            (mailbox, phone) = (addresses.mailbox, addresses.phone)
            isConfirmed = true
            subjects += left
        case .personChanged, .proofsEnded, .imported: break
        case .rolesChanged(let roles): self.roles = roles
        case .disabled:
            isDisabled = true
            stamp.number += 1
        case .enabled: isDisabled = false
        case .stampRotated: stamp.number += 1
        case .accessRemoved(let place, let number):
            stamp.removals = number
            removed[place] = number
        case .deletionScheduled(let due, let mail, let base, let isAdministrators):
            deletionDue = due
            isDeletionAdministrators = isAdministrators
            keepLink = base == nil ? nil : mail.map { (mail: $0, generation: proofGeneration) }
            stamp.number += 1
        case .deletionCancelled:
            deletionDue = nil
            isDeletionAdministrators = false
            keepLink = nil
        case .deleted(let subjects):
            isDeleted = true
            self.subjects = subjects
            stamp.number += 1
        case .erased: isErased = true
        }
    }
}

extension Account {
    /// Whether what was opened under these terms goes on as far as the account's events say: the stamp has not
    /// moved on, and access was removed from none of its places since then.
    public func keeps(_ terms: SessionTerms) -> Bool {
        keeps(
            terms.stamp, terms.factors,
            at: [
                .client(terms.client), terms.federation?.device.map { .device($0) },
                terms.opener?.installation.map { .client($0) },
                terms.browser.map { .browser($0, isOffline: terms.isOffline) },
            ])
    }

    public func keeps(_ terms: BrowserTerms) -> Bool {
        keeps(terms.stamp, terms.factors, at: [terms.opener?.installation.map { .client($0) }])
    }

    func keeps(
        _ opened: SecurityStamp, _ factors: [AuthenticationFactor],
        at places: @autoclosure () -> [AccessPlace?]
    ) -> Bool {
        stamp.holds(opened, factors) && admits(places(), since: opened.removals)
    }

    /// Whether access was removed from none of these places since the account had removed it so often.
    func admits(
        _ places: @autoclosure () -> [AccessPlace?], since removals: Int
    ) -> Bool {
        removed.isEmpty
            || places().allSatisfy { place in
                (place.flatMap { removed[$0] } ?? 0) <= removals
            }
    }

    /// Whether a deletion is to come that this link calls off.
    public func canBeKept(by link: UUID, at now: Timestamp) -> Bool {
        guard let deletionDue, !isDeleted, let keepLink else { return false }
        return keepLink.mail == link && keepLink.generation == proofGeneration
            && now < deletionDue
    }
}

extension AccountEvent {
    /// Whether mailed codes and links of earlier generations are void afterwards.
    var endsProofs: Bool {
        switch self {
        case .mailboxChanged, .mailboxMoved, .addressesChanged, .disabled, .stampRotated,
            .deletionScheduled, .deleted, .proofsEnded:
            true
        case .registered, .imported, .mailboxConfirmed, .personChanged, .rolesChanged, .enabled,
            .deletionCancelled, .erased, .accessRemoved:
            false
        }
    }
}

extension Versioned<Account> {
    /// What a session is opened under.
    var standing: (id: UUID, stamp: SecurityStamp) { (stream, state.stamp) }

    /// Whether the account was registered and not deleted.
    var isAlive: Bool { exists && !state.isDeleted }

    /// The same, for what was agreed to when the account had removed access so often.
    func standing(since removals: Int) -> (id: UUID, stamp: SecurityStamp) {
        var standing = standing
        // There may be fewer than there were, where the log lost its tail.
        standing.stamp.removals = min(removals, standing.stamp.removals)
        return standing
    }

    /// Its person may sign in and stay signed in.
    var isWelcome: Bool { isAlive && !state.isDisabled && state.deletionDue == nil }

    /// The name of a mail to its person. An unconfirmed mailbox may be a stranger's: no mail goes
    /// there.
    func mail(_ mail: UUID?) -> UUID? { state.isConfirmed ? mail : nil }
}
