public import EventSourcing
public import Values

/// What happens to a passkey. Its stream has the name of the ceremony that made it, so that a
/// ceremony can be gone through once.
public enum PasskeyEvent: FormedEvent {
    case enrolled(EnrolledPasskey)
    /// What was presented made no passkey, and the ceremony is used up.
    case enrollmentRefused(account: UUID, reason: String)
    /// A sign-in with the passkey.
    case used(counter: Int64, isBackedUp: Bool, at: Timestamp)
    /// What its owner calls it. Nil where the owner is erased.
    case renamed(String?, account: UUID)
    /// `mail`: the message that tells the owner, where there still is one.
    case removed(account: UUID, mail: UUID?)

    package enum Form {
        package static let enrolled = EventForm(
            "passkey.enrolled", .services, .factorAdded(.passkey), "The person made a passkey.",
            .enrolled, make: PasskeyEvent.enrolled)
        package static let enrollmentRefused = EventForm(
            "passkey.enrollment_refused", .audit, .passkeyRefused, "A new passkey was refused.",
            .account, .text("reason", "Reason of the refusal."),
            make: PasskeyEvent.enrollmentRefused)
        package static let used = EventForm(
            "passkey.used", .internal, .detail, "The person signed in with the passkey.", .counter,
            .backedUp, .time("used_at", "Time of use."), make: PasskeyEvent.used)
        package static let renamed = EventForm(
            "passkey.renamed", .audit, .passkeyRenamed, "The person renamed the passkey.",
            .optional(.text("name", "Display name, chosen by the person.", .personal(.person))),
            .account, make: PasskeyEvent.renamed)
        package static let removed = EventForm(
            "passkey.removed", .services, .factorRemoved(.passkey), "The passkey was removed.",
            .account, .optional(.notice), make: PasskeyEvent.removed)
    }

    public static let forms: EventForms<Self> = [
        Form.enrolled, Form.enrollmentRefused, Form.used, Form.renamed, Form.removed,
    ]

    public var subject: UUID? {
        switch self {
        case .enrolled(let passkey): passkey.account
        case .enrollmentRefused(let account, _), .renamed(_, let account),
            .removed(let account, _):
            account
        case .used: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .enrolled(let passkey): Form.enrolled(passkey)
        case .enrollmentRefused(let account, let reason): Form.enrollmentRefused(account, reason)
        case .used(let counter, let isBackedUp, let at): Form.used(counter, isBackedUp, at)
        case .renamed(let name, let account): Form.renamed(name, account)
        case .removed(let account, let mail): Form.removed(account, mail)
        }
    }
}
