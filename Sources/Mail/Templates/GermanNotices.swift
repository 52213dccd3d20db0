extension MailText {
    /// What is mailed about passphrases.
    static func germanPassphrase(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .passphraseReset:
            MailText(
                subject: "Eine neue Passphrase für {product}",
                preview: "Der Link gilt {minutes}.",
                heading: "Neue Passphrase setzen",
                introduction: "Mit diesem Link wählen Sie eine neue Passphrase. Er gilt {minutes} "
                    + "und nur einmal. Alle Geräte werden dann abgemeldet.",
                button: "Passphrase wählen",
                closing: "Haben Sie nicht darum gebeten, können Sie diese E-Mail ignorieren: Ihre "
                    + "Passphrase bleibt, wie sie ist. Bitte geben Sie den Link nicht weiter.")
        case .ownerInvitation:
            MailText(
                subject: "Ihr {product} ist bereit",
                preview: "Ein Schritt, und es gehört Ihnen.",
                heading: "Übernehmen",
                introduction: "Mit diesem Link wählen Sie Ihre Passphrase, und {product} gehört "
                    + "Ihnen.",
                button: "Passphrase wählen",
                closing: "Bitte geben Sie den Link nicht weiter: Wer ihn hat, kann an Ihre Stelle "
                    + "treten.")
        case .passphraseHint:
            MailText(
                subject: "Ihr Hinweis für {product}",
                preview: "Sie wollten an Ihre Passphrase erinnert werden.",
                heading: "Ihr Hinweis",
                introduction: "Diese Worte haben Sie gewählt, um sich an Ihre Passphrase zu "
                    + "erinnern.",
                closing: "Haben Sie nicht darum gebeten, können Sie diese E-Mail ignorieren. Wer "
                    + "den Hinweis liest, soll die Passphrase nicht erraten können: Wählen Sie "
                    + "sonst einen anderen.")
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .passphraseRemoved, .addressChanged, .signedOutEverywhere, .accountDisabled,
            .accountDeletion, .providerConnected, .deviceAdded, .deviceCertified, .notification:
            german(kind)
        }
    }

    static let germanProviderConnected =
        MailText(
            subject: "Ein weiterer Weg, sich bei {product} anzumelden",
            preview: "Waren Sie das?", heading: "Ein weiterer Weg, sich anzumelden",
            introduction: "Wer bei „{device}“ als Sie angemeldet ist, kann sich bei Ihrem "
                + "{product}-Konto anmelden. Verbunden wurde es am {time}.",
            closing: warIchNicht)

    static let germanDeletion =
        MailText(
            subject: "Ihr Konto bei {product} wird gelöscht",
            preview: "Bis zum {time} können Sie es sich anders überlegen.",
            heading: "Ihr Konto wird gelöscht",
            introduction: "Am {time} wird Ihr Konto bei {product} mit allem darin gelöscht.",
            closing: "Bis dahin können Sie es rückgängig machen. Sonst melden Sie sich bald.")
}
