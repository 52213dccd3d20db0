internal import EventSourcing
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// What an event wants said, and to whom.
struct MailOrder {
    let kind: MailKind
    var app: UUID?
    /// Whose mailbox it goes to; nil: the event names the person itself.
    var account: UUID?
    var deadline: Timestamp?

    /// Nil for an event that asks for no mail.
    init?(_ event: Recorded, _ mint: TokenMint) {
        switch event.name {
        case "otp.issued":
            guard case .codeIssued(let code) = MailboxEvent(event) else { return nil }
            kind = .emailOtp(
                code: mint.code(code.id), minutes: minutes(code.issuedAt, code.expiresAt))
            app = code.app
            deadline = code.expiresAt
        case "link.issued":
            guard case .linkIssued(let issued) = MailboxEvent(event),
                let link = MailLink(mint.address(of: issued))
            else { return nil }
            kind = .magicLink(link, minutes: minutes(issued.issuedAt, issued.expiresAt))
            app = issued.app
            deadline = issued.expiresAt
        case "totp.confirmed":
            guard case .confirmed(let enrolment) = TwoFactorEvent(event) else { return nil }
            kind = .totpEnrolled(at: enrolment.at)
            account = enrolment.account
        case "totp.removed":
            guard case .removed(let holder, _) = TwoFactorEvent(event) else { return nil }
            kind = .totpRemoved(at: event.at)
            account = holder
        default: return nil
        }
    }
}

private func minutes(_ from: Timestamp, _ to: Timestamp) -> Int {
    Int(clamping: max(1, (to.seconds - from.seconds) / 60))
}
