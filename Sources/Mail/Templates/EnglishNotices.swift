extension MailText {
    /// What is mailed about passphrases, and the codes that change something.
    static func englishPassphrase(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .emailChangeCode: englishEmailChangeCode
        case .pinResetCode: englishPINResetCode
        case .passphraseReset:
            MailText(
                subject: "A new passphrase for {product}",
                preview: "The link expires in {minutes}.",
                heading: "Set a new passphrase",
                introduction: "Use this link to choose a new passphrase. It expires in {minutes} "
                    + "and works once. Then all devices are signed out.",
                button: "Choose a passphrase",
                closing: "If you didn't ask for it, you can ignore this e-mail: your passphrase "
                    + "stays as it is. Don't share the link.")
        case .ownerInvitation:
            MailText(
                subject: "Your {product} is ready",
                preview: "Choose a passphrase to finish set-up.",
                heading: "Finish set-up",
                introduction: "Use this link to choose your passphrase and start using {product}.",
                button: "Choose a passphrase",
                closing: "Don't share the link: it gives access to {product} in your place.")
        case .passphraseHint:
            MailText(
                subject: "Your hint for {product}",
                preview: "You asked to be reminded of your passphrase.",
                heading: "Your hint",
                introduction: "You chose this hint to be reminded of your passphrase.",
                closing: "If you didn't ask for it, you can ignore this e-mail. If the hint gives "
                    + "your passphrase away, change the passphrase.")
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .pinSet,
            .passphraseRemoved, .addressChanged, .addressesChanged, .signedOutEverywhere,
            .accountDisabled,
            .accountDeletion, .accountDeletionAsked, .passphraseGuessed, .totpGuessed,
            .providerConnected,
            .deviceAdded, .deviceCertified, .notification, .subscriberFails,
            .subscriberStopped:
            english(kind)
        }
    }

    static let englishPINSet =
        MailText(
            subject: "A PIN was set for your {product} account",
            preview: "Was this you?", heading: "A new PIN",
            introduction:
                "A PIN to sign in with in an app was set for your {product} account, or "
                + "changed, on {time}.",
            closing: wasNotMe)

    static let englishPINResetCode =
        MailText(
            subject: "Reset your PIN for {product}",
            preview: "The code expires in {minutes}.",
            heading: "Reset your PIN",
            introduction:
                "Enter this code in the app to set a new PIN for your {product} account. It "
                + "expires in {minutes} and works once.",
            closing:
                "If you didn't ask for it, you can ignore this e-mail: your PIN stays as it is. "
                + "Don't share the code: with it anyone can set a PIN for your account."
                + "\n\n{product} staff will never ask you for it.")

    static let englishPassphraseSet =
        MailText(
            subject: "The passphrase of your {product} account was set",
            preview: "Was this you?", heading: "A new passphrase",
            introduction: "The passphrase of your {product} account was set or changed on "
                + "{time}.",
            closing: wasNotMe)

    static let englishEmailChangeCode =
        MailText(
            subject: "Confirm your new address for {product}",
            preview: "The code expires in {minutes}.",
            heading: "Your new e-mail address",
            introduction: "We were asked to make this the e-mail address of a {product} account. "
                + "If that was you, enter this code where you asked for it. It expires in "
                + "{minutes} and works once.",
            closing: "If it wasn't, ignore this e-mail and don't share the code: without it "
                + "nothing changes.\n\n{product} staff will never ask you for it.")

    static let englishProviderConnected =
        MailText(
            subject: "A new way to sign in to your {product} account",
            preview: "Was this you?", heading: "A new way to sign in",
            introduction: "Your account at “{device}” can be used to sign in to your {product} "
                + "account. It was connected on {time}.",
            closing: wasNotMe)

    static let englishDeletion =
        MailText(
            subject: "Your {product} account will be deleted",
            preview: "On {time}, unless it is cancelled.",
            heading: "Your account will be deleted",
            introduction: "Your {product} account and all in it will be deleted on {time}. Until "
                + "then you can't sign in to it.",
            closing: "Only the team of {product} can cancel the deletion. If you didn't expect "
                + "this, or want to keep the account, contact them before then.")

    static let englishDeletionAsked =
        MailText(
            subject: "Your {product} account is scheduled for deletion",
            preview: "Until {time} you can change your mind.",
            heading: "Your account will be deleted",
            introduction: "As asked for from your account, your {product} account and all in it "
                + "will be deleted on {time}. Until then you can cancel the deletion here.",
            button: "Keep my account",
            closing: "If this was you, there is nothing to do. If it wasn't, keep the account and "
                + "then change how you sign in.")

    static let englishTOTPGuessed =
        MailText(
            subject: "Wrong authenticator codes for your {product} account",
            preview: "The attempts failed. Was this you?",
            heading: "Wrong authenticator codes",
            introduction: "On {time} a wrong code of your authenticator app was entered several "
                + "times. The attempt had already passed the first step for your {product} account: "
                + "your passphrase, your mailbox, or a device that is signed in. For some minutes no "
                + "code is accepted.",
            closing:
                "If this was you, wait a few minutes, or use a recovery code. If it wasn't, change "
                + "your passphrase, and sign out of {product} everywhere.")

    static let englishPassphraseGuessed =
        MailText(
            subject: "Wrong passphrases for your {product} account",
            preview: "The attempts failed. Was this you?",
            heading: "Wrong passphrases",
            introduction: "On {time} a wrong passphrase was entered several times for your "
                + "{product} account. The attempts failed, and for some minutes no passphrase is "
                + "accepted.",
            closing:
                "If this was you, wait a few minutes, or sign in another way. If it wasn't, "
                + "there is nothing to do as long as your passphrase is long and used nowhere else."
        )
}
