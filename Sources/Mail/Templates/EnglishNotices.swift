extension MailText {
    /// What is mailed about passphrases.
    static func englishPassphrase(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .passphraseReset:
            MailText(
                subject: "Another passphrase for {product}",
                preview: "The link is good for {minutes}.",
                heading: "Set another passphrase",
                introduction: "With this link you choose another passphrase. It is good for "
                    + "{minutes} and works once. All devices are signed out then.",
                button: "Choose a passphrase",
                closing: "If you did not ask for it, you can ignore this mail: your passphrase "
                    + "stays as it is. Please do not pass the link on.")
        case .ownerInvitation:
            MailText(
                subject: "Your {product} is ready",
                preview: "One step, and it is yours.",
                heading: "Take it over",
                introduction: "With this link you choose your passphrase, and {product} is yours.",
                button: "Choose a passphrase",
                closing: "Please do not pass the link on: whoever has it can take your place.")
        case .passphraseHint:
            MailText(
                subject: "Your hint for {product}",
                preview: "You asked to be reminded of your passphrase.",
                heading: "Your hint",
                introduction: "You chose these words to be reminded of your passphrase.",
                closing: "If you did not ask for it, you can ignore this mail. Whoever reads the "
                    + "hint should not be able to guess the passphrase: else choose another one.")
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .emailChangeCode,
            .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .passphraseRemoved, .addressChanged, .signedOutEverywhere, .accountDisabled,
            .accountDeletion, .accountDeletionAsked, .passphraseGuessed, .totpGuessed,
            .providerConnected,
            .deviceAdded, .deviceCertified, .notification:
            english(kind)
        }
    }

    static let englishEmailChangeCode =
        MailText(
            subject: "Confirm your new address for {product}",
            preview: "The code is good for {minutes}.",
            heading: "Your new mail address",
            introduction: "Somebody wants this to be the mail address of his {product} account. If "
                + "that is you, enter this code where you asked for it. It is good for {minutes} "
                + "and works once.",
            closing: "If it is not, ignore this mail and do not pass the code on: without it "
                + "nothing changes.\n\nNobody at {product} will ever ask you for it.")

    static let englishProviderConnected =
        MailText(
            subject: "Another way to sign in to your {product} account",
            preview: "Was this you?", heading: "Another way to sign in",
            introduction: "Whoever is signed in at “{device}” as you can sign in to your "
                + "{product} account. It was connected on {time}.",
            closing: wasNotMe)

    static let englishDeletion =
        MailText(
            subject: "Your {product} account will be deleted",
            preview: "On {time}, unless it is called off.",
            heading: "Your account will be deleted",
            introduction: "Your {product} account and all in it will be deleted on {time}. Until "
                + "then nobody can sign in to it.",
            closing: "Only those who run {product} can call it off. If you did not expect this, or "
                + "want to keep the account, ask them before then.")

    static let englishDeletionAsked =
        MailText(
            subject: "Your {product} account is about to be deleted",
            preview: "Until {time} you can change your mind.",
            heading: "Your account will be deleted",
            introduction: "Somebody who was signed in as you asked for it: your {product} account "
                + "and all in it will be deleted on {time}. Until then the link calls it off.",
            button: "Keep my account",
            closing: "If this was you, there is nothing to do. If it was not, keep the account and "
                + "then change how you sign in.")

    static let englishTOTPGuessed =
        MailText(
            subject: "Somebody guesses codes of your {product} account",
            preview: "Nobody got in. Was this you?",
            heading: "Wrong codes of your authenticator app",
            introduction: "On {time} somebody typed a wrong code of your authenticator app several "
                + "times. Whoever it was had another way into your {product} account already: your "
                + "passphrase, your mailbox, or a device that is signed in. For some minutes no code "
                + "is taken.",
            closing:
                "If this was you, wait a little, or use a recovery code. If it was not, choose "
                + "another passphrase, and sign out of {product} everywhere.")

    static let englishPassphraseGuessed =
        MailText(
            subject: "Somebody guesses your {product} passphrase",
            preview: "Nobody got in. Was this you?",
            heading: "Wrong passphrases",
            introduction: "On {time} somebody typed a wrong passphrase for your {product} account "
                + "several times. Nobody got in by it, and for some minutes no guess is taken.",
            closing:
                "If this was you, wait a little, or choose another way to sign in. If it was not, "
                + "there is nothing to do as long as your passphrase is long and used nowhere else."
        )
}
