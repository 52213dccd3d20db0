import EventSourcing
import Identity
import Values

/// One of every event of links, second factors and invites, with every field that it can have.
func factorSamples() throws -> [any Event] {
    let person = Person(
        email: "ada@example.org", phone: "+41781234567", firstName: "Ada", lastName: "Byron",
        language: "en", externalID: "4711")
    let issued = IssuedLink(
        id: link, account: account, digest: try digest(3), app: app, issuedAt: noon,
        expiresAt: noon.adding(seconds: 900), base: "https://id.acme.example",
        returnPath: ReturnPath("/basket"), mail: mail, person: person, generation: 1)
    return [
        MailboxEvent.linkIssued(issued), MailboxEvent.linkRedeemed(link), offered(),
        try confirmed(), TwoFactorEvent.used(step: 101),
        TwoFactorEvent.refused(at: noon, account: account, mail: mail),
        TwoFactorEvent.removed(account: account, mail: mail),
        TwoFactorEvent.recoveryCodeUsed(try digest(8)),
        TwoFactorEvent.recoveryCodesRenewed([try digest(9)]),
        MailboxEvent.invited(Invitation(invite: invite, app: app)),
        InviteEvent.created(InviteTerms(app: app, mailbox: mailbox, expiresAt: noon)),
        InviteEvent.used(mailbox: mailbox, at: noon), InviteEvent.revoked,
    ]
}
