internal import EventSourcing
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// The mails of what several surfaces have: codes and links, and what happened to an account.
enum AccountMails {
    static let rules: [MailRule] = [
        MailRule(
            MailboxEvent.Form.codeIssued.name, MailboxEvent.Form.linkIssued.name, order: proof),
        MailRule(MailedLinkEvent.Form.issued.name, order: mailedLink),
        MailRule(AccountEvent.Form.disabled.name) { event, _ in
            MailOrder(kind: .accountDisabled(at: event.at), account: event.stream)
        },
        MailRule(AccountEvent.Form.mailboxChanged.name, AccountEvent.Form.mailboxMoved.name) {
            event, _ in
            MailOrder(
                kind: .addressChanged(at: event.at), account: event.stream,
                isForTheOldAddress: true)
        },
        MailRule(AccountEvent.Form.addressesChanged.name) { event, _ in
            MailOrder(
                kind: .addressesChanged(at: event.at), account: event.stream,
                isForTheOldAddress: true)
        },
        MailRule(AccountEvent.Form.stampRotated.name) { event, _ in
            MailOrder(kind: .signedOutEverywhere(at: event.at), account: event.stream)
        },
        MailRule(AccountEvent.Form.deletionScheduled.name, order: deletion),
        MailRule(PasskeyEvent.Form.enrolled.name, PasskeyEvent.Form.removed.name, order: passkey),
        MailRule(
            TwoFactorEvent.Form.confirmed.name, TwoFactorEvent.Form.removed.name,
            TwoFactorEvent.Form.refused.name, order: totp),
        MailRule(
            PassphraseEvent.Form.set.name, PassphraseEvent.Form.derived.name,
            PassphraseEvent.Form.removed.name, PassphraseEvent.Form.refused.name,
            order: passphrase),
        MailRule(ProviderIdentityEvent.Form.linked.name, order: identity),
    ]

    private static func proof(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        switch MailboxEvent(event) {
        case .codeIssued(let code) where code.base != nil && code.purpose == .move:
            guard let link = mint.address(ofMove: code, to: event.stream).flatMap(MailLink.init)
            else { return nil }
            return MailOrder(
                kind: .emailVerification(
                    link, minutes: MailOrder.minutes(code.issuedAt, code.expiresAt)),
                deadline: code.expiresAt)
        case .codeIssued(let code) where code.base != nil:
            guard
                let link = mint.address(ofConfirmation: code, to: event.stream)
                    .flatMap(MailLink.init)
            else { return nil }
            return MailOrder(
                kind: .magicLink(link, minutes: MailOrder.minutes(code.issuedAt, code.expiresAt)),
                app: code.app, channel: code.channel, deadline: code.expiresAt)
        case .codeIssued(let code):
            guard let digits = mint.digits(of: code, for: event.stream) else { return nil }
            let lasting = MailOrder.minutes(code.issuedAt, code.expiresAt)
            let kind: MailKind =
                switch code.purpose {
                case .signIn, .registration: .emailOtp(code: digits, minutes: lasting)
                case .move: .emailChangeCode(code: digits, minutes: lasting)
                case .pinReset: .pinResetCode(code: digits, minutes: lasting)
                }
            return MailOrder(
                kind: kind, app: code.app, channel: code.channel, deadline: code.expiresAt)
        case .linkIssued(let issued):
            guard let link = mint.address(of: issued).flatMap(MailLink.init) else { return nil }
            return MailOrder(
                kind: .magicLink(
                    link, minutes: MailOrder.minutes(issued.issuedAt, issued.expiresAt)),
                app: issued.app, deadline: issued.expiresAt)
        default: return nil
        }
    }

    private static func mailedLink(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .issued(let issued)? = MailedLinkEvent(event),
            let link = MailLink(mint.address(of: issued))
        else { return nil }
        let lasting = MailOrder.minutes(issued.issuedAt, issued.expiresAt)
        let kind: MailKind =
            switch issued.purpose {
            case .signIn: .magicLink(link, minutes: lasting)
            case .passphraseReset: .passphraseReset(link, minutes: lasting)
            }
        return MailOrder(
            kind: kind, account: issued.account, deadline: issued.expiresAt,
            generation: issued.generation)
    }

    private static func deletion(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .deletionScheduled(let due, let mail, let base, _)? = AccountEvent(event) else {
            return nil
        }
        guard let mail, let base,
            let link = MailLink(base + mint.keepToken(mail, of: event.stream))
        else { return MailOrder(kind: .accountDeletion(at: due), account: event.stream) }
        return MailOrder(
            kind: .accountDeletionAsked(link, at: due), account: event.stream, deadline: due)
    }

    private static func passkey(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
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

    private static func totp(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
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

    private static func passphrase(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        switch PassphraseEvent(event) {
        case .set(_, let owner, _, _), .derived(_, let owner, _, _):
            MailOrder(kind: .passphraseSet(at: event.at), account: owner)
        case .removed(let owner, _):
            MailOrder(kind: .passphraseRemoved(at: event.at), account: owner)
        case .refused(_, let owner?, _):
            MailOrder(kind: .passphraseGuessed(at: event.at), account: owner)
        case .imported, .rehashed, .refused, .used, .hintChanged, .hintRequested, nil: nil
        }
    }

    private static func identity(_ event: Recorded, _ mint: TokenMint) -> MailOrder? {
        guard case .linked(let account, let provider, _, _)? = ProviderIdentityEvent(event) else {
            return nil
        }
        return MailOrder(
            kind: .providerConnected(name: provider, at: event.at), account: account)
    }
}
