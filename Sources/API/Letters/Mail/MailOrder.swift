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
    /// It goes to the mailbox that the account left by the event.
    var isForTheOldAddress = false
    var deadline: Timestamp?
    /// Of what proves something: it is mailed as long as the account's proofs are of this generation.
    var generation: Int?

    /// Nil for an event that asks for no mail.
    static func of(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        switch event.name {
        case "otp.issued", "link.issued": toWhoeverAsked(event, mint)
        case "account.disabled":
            MailOrder(kind: .accountDisabled(at: event.at), account: event.stream)
        case "account.mailbox_changed", "account.mailbox_moved":
            MailOrder(
                kind: .addressChanged(at: event.at), account: event.stream,
                isForTheOldAddress: true)
        case "account.stamp_rotated":
            MailOrder(kind: .signedOutEverywhere(at: event.at), account: event.stream)
        case "account.deletion_scheduled": ofDeletion(event, mint)
        case "passkey.enrolled", "passkey.removed": ofPasskey(event)
        case "totp.confirmed", "totp.removed", "totp.refused": ofTOTP(event)
        case "passphrase.set", "passphrase.derived", "passphrase.removed", "passphrase.refused":
            ofPassphrase(event)
        case "mailed_code.issued": ofMailedCode(event, mint)
        case "mailed_link.issued": ofMailedLink(event, mint)
        case "owner.invited": ofInvitation(event, mint)
        case "identity.linked": ofIdentity(event)
        case "passphrase.hint_requested": ofHint(event)
        case "owner.device_added", "client.certified": ofDevice(event)
        case "notification.mailed": ofNotification(event)
        default: nil
        }
    }

    private static func ofDeletion(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .deletionScheduled(let due, let mail, let base)? = AccountEvent(event) else {
            return nil
        }
        guard let mail, let base,
            let link = MailLink(base + mint.keepToken(mail, of: event.stream))
        else { return MailOrder(kind: .accountDeletion(at: due), account: event.stream) }
        return MailOrder(
            kind: .accountDeletionAsked(link, at: due), account: event.stream, deadline: due)
    }

    private static func ofPasskey(_ event: Recorded) -> MailOrder? {
        switch PasskeyEvent(event) {
        case .enrolled(let passkey):
            MailOrder(
                kind: .passkeyEnrolled(
                    device: PasskeyModel.name(of: passkey.key.model) ?? PasskeyName.unknown,
                    at: event.at), account: passkey.account)
        case .removed(let owner, _):
            // Its name stands in the events before.
            MailOrder(
                kind: .passkeyRemoved(device: PasskeyName.unknown, at: event.at), account: owner)
        case .enrollmentRefused, .used, .renamed, nil: nil
        }
    }

    private static func ofTOTP(_ event: Recorded) -> MailOrder? {
        switch TwoFactorEvent(event) {
        case .confirmed(let enrolment):
            MailOrder(kind: .totpEnrolled(at: event.at), account: enrolment.account)
        case .removed(let owner, _):
            MailOrder(kind: .totpRemoved(at: event.at), account: owner)
        case .refused(_, let owner?, _):
            MailOrder(kind: .totpGuessed(at: event.at), account: owner)
        case .offered, .used, .refused, .recoveryCodeUsed, .recoveryCodesRenewed, nil: nil
        }
    }

    private static func ofPassphrase(_ event: Recorded) -> MailOrder? {
        switch PassphraseEvent(event) {
        case .set(_, let owner, _, _), .derived(_, let owner, _, _):
            MailOrder(kind: .passphraseSet(at: event.at), account: owner)
        case .removed(let owner, _):
            MailOrder(kind: .passphraseRemoved(at: event.at), account: owner)
        case .refused(_, let owner?, _):
            MailOrder(kind: .passphraseGuessed(at: event.at), account: owner)
        case .refused, .used, .hintChanged, .hintRequested, nil: nil
        }
    }

    private static func ofHint(_ event: Recorded) -> MailOrder? {
        guard case .hintRequested(let hint?, let owner, _)? = PassphraseEvent(event) else {
            return nil
        }
        return MailOrder(kind: .passphraseHint(hint), account: owner)
    }

    private static func ofIdentity(_ event: Recorded) -> MailOrder? {
        guard case .linked(let account, let provider, _, _)? = ProviderIdentityEvent(event) else {
            return nil
        }
        return MailOrder(
            kind: .providerConnected(name: provider, at: event.at), account: account)
    }

    private static func ofInvitation(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .invited(let owner, let token, let base, _, let generation)? = OwnerEvent(event),
            let link = MailLink(
                "\(base)/auth/passphrase?registerToken=\(mint.registerToken(token))")
        else { return nil }
        return MailOrder(kind: .ownerInvitation(link), account: owner, generation: generation)
    }

    private static func ofMailedLink(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .issued(let issued)? = MailedLinkEvent(event),
            let link = MailLink(mint.address(of: issued))
        else { return nil }
        let lasting = minutes(issued.issuedAt, issued.expiresAt)
        let kind: MailKind =
            switch issued.purpose {
            case .signIn: .magicLink(link, minutes: lasting)
            case .passphraseReset: .passphraseReset(link, minutes: lasting)
            }
        return MailOrder(
            kind: kind, account: issued.account, deadline: issued.expiresAt,
            generation: issued.generation)
    }

    private static func ofDevice(_ event: Recorded) -> MailOrder? {
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

    private static func ofMailedCode(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .issued(let code)? = MailedCodeEvent(event) else { return nil }
        guard let digits = mint.digits(of: code) else { return nil }
        let lasting = minutes(code.issuedAt, code.expiresAt)
        let kind: MailKind =
            switch code.purpose {
            case .secondFactor: .secondFactorCode(code: digits, minutes: lasting)
            case .certification: .certificationCode(code: digits, minutes: lasting)
            }
        return MailOrder(
            kind: kind, account: code.account, deadline: code.expiresAt,
            generation: code.generation)
    }

    private static func ofNotification(_ event: Recorded) -> MailOrder? {
        guard case .mailed(_, _, let account, let content?)? = NotificationEvent(event) else {
            return nil
        }
        return MailOrder(
            kind: .notification(
                title: content.title, message: content.message, sender: content.sender),
            account: account)
    }

    private static func toWhoeverAsked(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        switch MailboxEvent(event) {
        case .codeIssued(let code) where code.base != nil:
            guard let link = mint.address(ofMove: code, to: event.stream).flatMap(MailLink.init)
            else { return nil }
            return MailOrder(
                kind: .emailVerification(
                    link, minutes: minutes(code.issuedAt, code.expiresAt)),
                deadline: code.expiresAt)
        case .codeIssued(let code):
            guard let digits = mint.digits(of: code, for: event.stream) else { return nil }
            let lasting = minutes(code.issuedAt, code.expiresAt)
            let kind: MailKind =
                switch code.purpose {
                case .signIn, .registration: .emailOtp(code: digits, minutes: lasting)
                case .move: .emailChangeCode(code: digits, minutes: lasting)
                }
            return MailOrder(kind: kind, app: code.app, deadline: code.expiresAt)
        case .linkIssued(let issued):
            guard let link = mint.address(of: issued).flatMap(MailLink.init) else { return nil }
            return MailOrder(
                kind: .magicLink(link, minutes: minutes(issued.issuedAt, issued.expiresAt)),
                app: issued.app, deadline: issued.expiresAt)
        default: return nil
        }
    }

    private static func minutes(_ from: Timestamp, _ to: Timestamp) -> Int {
        Int(clamping: max(1, (to.seconds - from.seconds) / 60))
    }
}
