internal import Identity
internal import Mail
internal import Values

/// What an event wants said, and to whom.
struct MailOrder {
    let kind: MailKind
    var app: UUID?
    /// Whose mailbox it goes to; nil: the event names the person itself.
    var account: UUID?
    /// It goes to the mailbox that the account left by the event.
    var isForTheOldAddress = false
    /// It goes to the address that the realm's settings name, and is about the event's stream.
    var isForTheContact = false
    /// The channel of the message. To phones nothing but codes is sent.
    var channel = Channel.mail
    var deadline: Timestamp?
    /// Of what proves something: it is mailed as long as the account's proofs are of this generation.
    var generation: Int?

    /// How long a mail says that its code or link lasts.
    static func minutes(_ from: Timestamp, _ to: Timestamp) -> Int {
        Int(clamping: max(1, (to.seconds - from.seconds) / 60))
    }
}
