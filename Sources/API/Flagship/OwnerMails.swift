internal import EventSourcing
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// The mails of realms that have an owner.
enum OwnerMails {
    static let rules: [MailRule] = [
        MailRule(OwnerEvent.Form.invited.name, order: invitation),
        MailRule(OwnerEvent.Form.deviceAdded.name, ClientEvent.Form.certified.name, order: device),
        MailRule(MailedCodeEvent.Form.issued.name, order: mailedCode),
        MailRule(PassphraseEvent.Form.hintRequested.name, order: hint),
        MailRule(NotificationEvent.Form.mailed.name, order: notification),
    ]

    private static func invitation(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .invited(let owner, let token, let base, _, let generation)? = OwnerEvent(event),
            let link = MailLink(
                "\(base)/auth/passphrase?registerToken=\(mint.registerToken(token))")
        else { return nil }
        return MailOrder(kind: .ownerInvitation(link), account: owner, generation: generation)
    }

    private static func device(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        if case .deviceAdded(let device)? = OwnerEvent(event), device.mail != nil {
            return MailOrder(
                kind: .deviceAdded(device: device.clientName, at: event.at),
                account: device.account)
        }
        guard case .certified(_, _, _, let notice?)? = ClientEvent(event) else { return nil }
        return MailOrder(
            kind: .deviceCertified(device: notice.clientName, at: event.at),
            account: notice.account)
    }

    private static func mailedCode(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .issued(let code)? = MailedCodeEvent(event) else { return nil }
        guard let digits = mint.digits(of: code) else { return nil }
        let lasting = MailOrder.minutes(code.issuedAt, code.expiresAt)
        let kind: MailKind =
            switch code.purpose {
            case .secondFactor: .secondFactorCode(code: digits, minutes: lasting)
            case .certification: .certificationCode(code: digits, minutes: lasting)
            }
        return MailOrder(
            kind: kind, account: code.account, deadline: code.expiresAt,
            generation: code.generation)
    }

    private static func hint(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .hintRequested(let hint?, let owner, _)? = PassphraseEvent(event) else {
            return nil
        }
        return MailOrder(kind: .passphraseHint(hint), account: owner)
    }

    private static func notification(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .mailed(_, _, let account, let content?)? = NotificationEvent(event) else {
            return nil
        }
        return MailOrder(
            kind: .notification(
                title: content.title, message: content.message, sender: content.sender),
            account: account)
    }
}
