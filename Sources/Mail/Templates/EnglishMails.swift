extension MailText {
    /// The words in English.
    static func english(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .emailOtp:
            MailText(
                subject: "Your sign-in code for {product}",
                preview: "The code is good for {minutes}.",
                heading: "Your sign-in code",
                introduction: "Enter this code to sign in to {product}. It is good for {minutes} "
                    + "and works once.",
                closing: "If you did not ask for a code, you can ignore this mail: without the "
                    + "code nobody can sign in.\n\nNobody at {product} will ever ask you for it.")
        case .secondFactorCode:
            MailText(
                subject: "Your second code for {product}",
                preview: "The code is good for {minutes}.",
                heading: "One more step",
                introduction:
                    "Somebody who knows your passphrase is signing in to {product}. Enter "
                    + "this code to go on. It is good for {minutes} and works once.",
                closing: "If this was not you, somebody knows your passphrase: sign in and change "
                    + "it. Do not pass the code on.")
        case .certificationCode:
            MailText(
                subject: "An app asks for full access to {product}",
                preview: "The code is good for {minutes}.",
                heading: "Is this your app?",
                introduction: "An app wants to see and change everything of yours at {product}, "
                    + "and no app store has vouched for it. If you have just installed it from a "
                    + "place that you trust, enter this code. It is good for {minutes}.",
                closing: "If you are not signing in to an app right now, do not enter the code "
                    + "anywhere and do not pass it on: whoever has it gets everything.")
        case .magicLink:
            MailText(
                subject: "Your sign-in link for {product}",
                preview: "The link is good for {minutes}.",
                heading: "Sign in to {product}",
                introduction:
                    "With this link you sign in. It is good for {minutes} and works once.",
                button: "Sign in",
                closing: "If you did not ask for a link, you can ignore this mail: without the "
                    + "link nobody can sign in. Please do not pass it on.")
        case .emailVerification:
            MailText(
                subject: "Confirm your address for {product}",
                preview: "One step, and your address is confirmed.",
                heading: "Confirm your address",
                introduction: "Please confirm that this mail address is yours. The link is good "
                    + "for {minutes}.",
                button: "Confirm address",
                closing: "If you did not give this address to {product}, you can ignore this mail: "
                    + "nothing happens without your confirmation.")
        case .emailChangeCode: englishEmailChangeCode
        case .passphraseReset, .ownerInvitation, .passphraseHint: englishPassphrase(kind)
        case .addressChanged: englishAddressChanged
        case .notification:
            MailText(
                subject: "{title} ({product})", preview: "{app} has news for you.",
                heading: "{title}",
                introduction: "{message}",
                closing: "{app} sent this to your devices. None of them took it, so it comes by "
                    + "mail.")
        case .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .passphraseRemoved, .signedOutEverywhere, .accountDisabled, .accountDeletion,
            .accountDeletionAsked, .passphraseGuessed, .totpGuessed:
            englishNotice(kind)
        case .providerConnected: englishProviderConnected
        case .deviceAdded: englishDeviceAdded
        case .deviceCertified: englishDeviceCertified
        }
    }

    static let wasNotMe =
        "If this was not you, sign in to {product}, check your passkeys and devices, and get in "
        + "touch with us."

    /// It goes to the old address, where nobody can sign in to look.
    private static let englishAddressChanged =
        MailText(
            subject: "The mail address of your {product} account was changed",
            preview: "Was this you?", heading: "Another mail address",
            introduction: "Your {product} account has another mail address since {time}. Mails "
                + "about it no longer come here, and all devices were signed out.",
            closing: "If this was not you, get in touch with us soon.")

    /// Something about an account has changed, and whoever owns it should know.
    private static func englishNotice(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .passkeyEnrolled:
            MailText(
                subject: "A passkey was added to your {product} account",
                preview: "Was this you?", heading: "A new passkey",
                introduction: "The passkey “{device}” can be used to sign in to your {product} "
                    + "account. It was added on {time}.",
                closing: wasNotMe)
        case .passkeyRemoved:
            MailText(
                subject: "A passkey was removed from your {product} account",
                preview: "Was this you?", heading: "A passkey was removed",
                introduction: "The passkey “{device}” can no longer be used to sign in to your "
                    + "{product} account. It was removed on {time}.",
                closing: wasNotMe)
        case .totpEnrolled:
            MailText(
                subject: "An authenticator app was added to your {product} account",
                preview: "Was this you?", heading: "A new authenticator app",
                introduction: "Signing in to your {product} account now asks for a code of your "
                    + "authenticator app. It was added on {time}.",
                closing: wasNotMe)
        case .totpRemoved:
            MailText(
                subject: "The authenticator app was removed from your {product} account",
                preview: "Was this you?", heading: "The authenticator app was removed",
                introduction: "Signing in to your {product} account no longer asks for a code of "
                    + "your authenticator app. It was removed on {time}.",
                closing: wasNotMe)
        case .passphraseSet:
            MailText(
                subject: "The passphrase of your {product} account was set",
                preview: "Was this you?", heading: "A new passphrase",
                introduction: "The passphrase of your {product} account was set or changed on "
                    + "{time}.",
                closing: wasNotMe)
        case .passphraseRemoved:
            MailText(
                subject: "The passphrase of your {product} account was removed",
                preview: "Was this you?", heading: "The passphrase was removed",
                introduction: "Nobody can sign in to your {product} account by a passphrase any "
                    + "more. It was removed on {time}.",
                closing: wasNotMe)
        case .signedOutEverywhere:
            MailText(
                subject: "You were signed out of {product} everywhere",
                preview: "All devices have to sign in again.", heading: "Signed out everywhere",
                introduction: "On {time} your {product} account was signed out on all devices. "
                    + "Each of them has to sign in again.",
                closing: wasNotMe)
        case .accountDisabled:
            MailText(
                subject: "Your {product} account was disabled",
                preview: "Nobody can sign in to it.", heading: "Your account was disabled",
                introduction: "Your {product} account was disabled on {time}. Nobody can sign in "
                    + "to it, and all devices were signed out.",
                closing: "If you think that this is a mistake, get in touch with us.")
        case .accountDeletion: englishDeletion
        case .accountDeletionAsked: englishDeletionAsked
        case .passphraseGuessed: englishPassphraseGuessed
        case .totpGuessed: englishTOTPGuessed
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .emailChangeCode, .passphraseReset, .ownerInvitation, .passphraseHint,
            .addressChanged, .providerConnected, .deviceAdded, .deviceCertified, .notification:
            english(kind)
        }
    }

    private static let removeIt =
        "If this was not you, remove it under “Devices” in your account, set another passphrase, "
        + "and get in touch with us."

    private static let englishDeviceAdded =
        MailText(
            subject: "A new device uses your {product} account",
            preview: "Was this you?", heading: "A new device",
            introduction: "The app “{device}” was let in to your {product} account on {time}.",
            closing: removeIt)

    private static let englishDeviceCertified =
        MailText(
            subject: "A device has full access to your {product} account",
            preview: "Was this you?", heading: "A device has full access",
            introduction: "The app “{device}” can see and change everything in your {product} "
                + "account since {time}.",
            closing: removeIt)
}
