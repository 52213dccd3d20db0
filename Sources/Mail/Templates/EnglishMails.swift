extension MailText {
    /// The mail texts in English.
    static func english(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .emailOtp:
            MailText(
                subject: "Your sign-in code for {product}",
                preview: "The code expires in {minutes}.",
                heading: "Your sign-in code",
                introduction: "Enter this code to sign in to {product}. It expires in {minutes} "
                    + "and works once.",
                closing: "If you didn't ask for a code, you can ignore this e-mail: without the "
                    + "code no one can sign in.\n\n{product} staff will never ask you for it.")
        case .secondFactorCode:
            MailText(
                subject: "Your second code for {product}",
                preview: "The code expires in {minutes}.",
                heading: "One more step",
                introduction: "A sign-in to {product} with your passphrase needs this code. It "
                    + "expires in {minutes} and works once.",
                closing: "If this wasn't you, your passphrase is known to someone else: sign in "
                    + "and change it. Don't share the code.")
        case .certificationCode:
            MailText(
                subject: "An app asks for full access to {product}",
                preview: "The code expires in {minutes}.",
                heading: "Is this your app?",
                introduction: "An app wants full access to your data at {product}, and no app "
                    + "store has verified it. If you have just installed it from a source that "
                    + "you trust, enter this code. It expires in {minutes}.",
                closing: "If you aren't signing in to an app right now, don't enter the code "
                    + "anywhere and don't share it: it gives access to all your data.")
        case .magicLink:
            MailText(
                subject: "Your sign-in link for {product}",
                preview: "The link expires in {minutes}.",
                heading: "Sign in to {product}",
                introduction:
                    "Use this link to sign in. It expires in {minutes} and works once.",
                button: "Sign in",
                closing: "If you didn't ask for a link, you can ignore this e-mail: without the "
                    + "link no one can sign in. Don't share it.")
        case .emailVerification:
            MailText(
                subject: "Confirm your address for {product}",
                preview: "One step, and your address is confirmed.",
                heading: "Confirm your address",
                introduction: "Please confirm that this e-mail address is yours. The link expires "
                    + "in {minutes}.",
                button: "Confirm address",
                closing:
                    "If you didn't give this address to {product}, you can ignore this e-mail: "
                    + "nothing happens without your confirmation.")
        case .emailChangeCode, .pinResetCode, .passphraseReset, .ownerInvitation, .passphraseHint:
            englishPassphrase(kind)
        case .addressChanged, .addressesChanged: englishAddress(kind)
        case .notification:
            MailText(
                subject: "{title} ({product})", preview: "{app} has news for you.",
                heading: "{title}",
                introduction: "{message}",
                closing: "{app} couldn't deliver this to any of your devices, so it comes by "
                    + "e-mail.")
        case .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .pinSet, .passphraseRemoved, .signedOutEverywhere, .accountDisabled, .accountDeletion,
            .accountDeletionAsked, .passphraseGuessed, .totpGuessed:
            englishNotice(kind)
        case .providerConnected: englishProviderConnected
        case .deviceAdded, .deviceCertified: englishDevice(kind)
        case .subscriberFails, .subscriberStopped: englishContact(kind)
        }
    }

    static let wasNotMe =
        "If this wasn't you, sign in to {product}, check your passkeys and devices, and contact "
        + "us."

    private static func englishAddress(_ kind: MailKind.Name) -> MailText {
        kind == .addressChanged ? englishAddressChanged : englishAddressesChanged
    }

    /// It goes to the old address, which no longer signs in to the account.
    private static let englishAddressChanged =
        MailText(
            subject: "The e-mail address of your {product} account was changed",
            preview: "Was this you?", heading: "New e-mail address",
            introduction: "The e-mail address of your {product} account was changed on {time}. "
                + "E-mails about it no longer come here, and all devices were signed out.",
            closing: "If this wasn't you, contact us soon.")

    private static let englishAddressesChanged =
        MailText(
            subject: "What you sign in to {product} with was changed",
            preview: "Was this you?", heading: "Changed sign-in details",
            introduction:
                "An e-mail address or a phone number was added to your {product} account, or removed "
                + "from it, on {time}.",
            closing: "If this wasn't you, contact us soon.")

    /// Something about an account has changed, and its owner should know.
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
        case .passphraseSet: englishPassphraseSet
        case .pinSet: englishPINSet
        case .passphraseRemoved:
            MailText(
                subject: "The passphrase of your {product} account was removed",
                preview: "Was this you?", heading: "The passphrase was removed",
                introduction: "Your {product} account no longer has a passphrase to sign in with. "
                    + "It was removed on {time}.",
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
                preview: "You can no longer sign in.", heading: "Your account was disabled",
                introduction: "Your {product} account was disabled on {time}. You can no longer "
                    + "sign in, and all devices were signed out.",
                closing: "If you think this is a mistake, contact us.")
        case .accountDeletion: englishDeletion
        case .accountDeletionAsked: englishDeletionAsked
        case .passphraseGuessed: englishPassphraseGuessed
        case .totpGuessed: englishTOTPGuessed
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .emailChangeCode, .pinResetCode, .passphraseReset, .ownerInvitation, .passphraseHint,
            .addressChanged, .addressesChanged, .providerConnected, .deviceAdded, .deviceCertified,
            .notification,
            .subscriberFails, .subscriberStopped:
            english(kind)
        }
    }

    private static let removeIt =
        "If this wasn't you, remove it under “Devices” in your account, change your passphrase, "
        + "and contact us."

    private static func englishDevice(_ kind: MailKind.Name) -> MailText {
        kind == .deviceAdded ? englishDeviceAdded : englishDeviceCertified
    }

    private static let englishDeviceAdded =
        MailText(
            subject: "A new device uses your {product} account",
            preview: "Was this you?", heading: "A new device",
            introduction: "The app “{device}” got access to your {product} account on {time}.",
            closing: removeIt)

    private static let englishDeviceCertified =
        MailText(
            subject: "A device has full access to your {product} account",
            preview: "Was this you?", heading: "A device has full access",
            introduction: "The app “{device}” got full access to your {product} account on "
                + "{time}: it can see and change everything in it.",
            closing: removeIt)
}
