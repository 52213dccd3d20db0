extension MailText {
    /// The words in German.
    static func german(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .emailOtp:
            MailText(
                subject: "Ihr Anmeldecode für {product}",
                preview: "Der Code gilt {minutes}.",
                heading: "Ihr Anmeldecode",
                introduction: "Geben Sie diesen Code ein, um sich bei {product} anzumelden. Er "
                    + "gilt {minutes} und nur einmal.",
                closing: "Haben Sie keinen Code angefordert, können Sie diese E-Mail ignorieren: "
                    + "Ohne den Code kann sich niemand anmelden.\n\nNiemand bei {product} wird "
                    + "Sie je danach fragen.")
        case .secondFactorCode:
            MailText(
                subject: "Ihr zweiter Code für {product}",
                preview: "Der Code gilt {minutes}.",
                heading: "Noch ein Schritt",
                introduction: "Eine Anmeldung bei {product} mit Ihrer Passphrase braucht diesen "
                    + "Code. Er gilt {minutes} und nur einmal.",
                closing: "Waren Sie das nicht, kennt jemand anders Ihre Passphrase: Melden Sie "
                    + "sich an und ändern Sie sie. Geben Sie den Code nicht weiter.")
        case .certificationCode:
            MailText(
                subject: "Eine App möchte vollen Zugriff auf {product}",
                preview: "Der Code gilt {minutes}.",
                heading: "Ist das Ihre App?",
                introduction: "Eine App möchte vollen Zugriff auf Ihre Daten bei {product}, und "
                    + "kein App-Store hat sie bestätigt. Haben Sie sie gerade aus einer Quelle "
                    + "installiert, der Sie vertrauen, geben Sie diesen Code ein. Er gilt "
                    + "{minutes}.",
                closing: "Melden Sie sich gerade nicht in einer App an, geben Sie den Code "
                    + "nirgends ein und nicht weiter: Er gibt Zugriff auf alle Ihre Daten.")
        case .magicLink:
            MailText(
                subject: "Ihr Anmeldelink für {product}",
                preview: "Der Link gilt {minutes}.",
                heading: "Anmelden bei {product}",
                introduction: "Mit diesem Link melden Sie sich an. Er gilt {minutes} und nur "
                    + "einmal.",
                button: "Anmelden",
                closing: "Haben Sie keinen Link angefordert, können Sie diese E-Mail ignorieren: "
                    + "Ohne den Link kann sich niemand anmelden. Bitte geben Sie ihn nicht weiter.")
        case .emailVerification:
            MailText(
                subject: "Bestätigen Sie Ihre Adresse für {product}",
                preview: "Ein Schritt, und Ihre Adresse ist bestätigt.",
                heading: "Adresse bestätigen",
                introduction: "Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört. Der "
                    + "Link gilt {minutes}.",
                button: "Adresse bestätigen",
                closing: "Haben Sie diese Adresse nicht bei {product} angegeben, können Sie diese "
                    + "E-Mail ignorieren: Ohne Ihre Bestätigung geschieht nichts.")
        case .emailChangeCode, .pinResetCode, .passphraseReset, .ownerInvitation, .passphraseHint:
            germanPassphrase(kind)
        case .addressChanged: germanAddressChanged
        case .addressesChanged: germanAddressesChanged
        case .notification: germanNotification
        case .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .pinSet,
            .passphraseRemoved, .signedOutEverywhere, .accountDisabled, .accountDeletion,
            .accountDeletionAsked, .passphraseGuessed, .totpGuessed:
            germanNotice(kind)
        case .providerConnected: germanProviderConnected
        case .deviceAdded: germanDeviceAdded
        case .deviceCertified: germanDeviceCertified
        case .subscriberFails, .subscriberStopped: germanContact(kind)
        }
    }

    static let warIchNicht =
        "Waren Sie das nicht, melden Sie sich bei {product} an, prüfen Sie Ihre Passkeys und "
        + "Geräte und wenden Sie sich an uns."

    /// It goes to the old address, which no longer signs in to the account.
    private static let germanAddressChanged =
        MailText(
            subject: "E-Mail-Adresse Ihres Kontos bei {product} geändert",
            preview: "Waren Sie das?", heading: "Neue E-Mail-Adresse",
            introduction: "Ihr Konto bei {product} hat seit {time} eine neue E-Mail-Adresse. "
                + "E-Mails dazu kommen nicht mehr hierher, und alle Geräte wurden abgemeldet.",
            closing: "Waren Sie das nicht, melden Sie sich bitte bald bei uns.")

    private static let germanAddressesChanged =
        MailText(
            subject: "Womit Sie sich bei {product} anmelden, wurde geändert",
            preview: "Waren Sie das?", heading: "Geänderte Anmeldedaten",
            introduction:
                "Zu Ihrem Konto bei {product} kam am {time} eine E-Mail-Adresse oder Telefonnummer "
                + "hinzu, oder sie wurde entfernt.",
            closing: "Waren Sie das nicht, melden Sie sich bitte bald bei uns.")

    /// Something about an account has changed, and its owner should know.
    private static func germanNotice(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .passkeyEnrolled:
            MailText(
                subject: "Neuer Passkey für Ihr Konto bei {product}",
                preview: "Waren Sie das?", heading: "Ein neuer Passkey",
                introduction: "Mit dem Passkey „{device}“ kann man sich bei Ihrem Konto bei "
                    + "{product} anmelden. Er wurde am {time} hinzugefügt.",
                closing: warIchNicht)
        case .passkeyRemoved:
            MailText(
                subject: "Passkey aus Ihrem Konto bei {product} entfernt",
                preview: "Waren Sie das?", heading: "Ein Passkey wurde entfernt",
                introduction: "Mit dem Passkey „{device}“ kann man sich nicht mehr bei Ihrem Konto "
                    + "bei {product} anmelden. Er wurde am {time} entfernt.",
                closing: warIchNicht)
        case .totpEnrolled:
            MailText(
                subject: "Authenticator-App für Ihr Konto bei {product} eingerichtet",
                preview: "Waren Sie das?", heading: "Eine neue Authenticator-App",
                introduction: "Die Anmeldung bei {product} fragt nun nach einem Code Ihrer "
                    + "Authenticator-App. Sie wurde am {time} eingerichtet.",
                closing: warIchNicht)
        case .totpRemoved:
            MailText(
                subject: "Authenticator-App aus Ihrem Konto bei {product} entfernt",
                preview: "Waren Sie das?", heading: "Die Authenticator-App wurde entfernt",
                introduction: "Die Anmeldung bei {product} fragt nicht mehr nach einem Code Ihrer "
                    + "Authenticator-App. Sie wurde am {time} entfernt.",
                closing: warIchNicht)
        case .passphraseSet: germanPassphraseSet
        case .pinSet: germanPINSet
        case .passphraseRemoved:
            MailText(
                subject: "Passphrase für Ihr Konto bei {product} entfernt",
                preview: "Waren Sie das?", heading: "Die Passphrase wurde entfernt",
                introduction: "Bei Ihrem Konto bei {product} kann man sich nicht mehr mit einer "
                    + "Passphrase anmelden. Sie wurde am {time} entfernt.",
                closing: warIchNicht)
        case .signedOutEverywhere:
            MailText(
                subject: "Sie wurden bei {product} überall abgemeldet",
                preview: "Alle Geräte müssen sich neu anmelden.", heading: "Überall abgemeldet",
                introduction: "Am {time} wurde Ihr Konto bei {product} auf allen Geräten "
                    + "abgemeldet. Jedes muss sich neu anmelden.",
                closing: warIchNicht)
        case .accountDisabled:
            MailText(
                subject: "Ihr Konto bei {product} wurde gesperrt",
                preview: "Sie können sich nicht mehr anmelden.",
                heading: "Ihr Konto wurde gesperrt",
                introduction: "Ihr Konto bei {product} wurde am {time} gesperrt. Sie können sich "
                    + "nicht mehr anmelden, und alle Geräte wurden abgemeldet.",
                closing: "Halten Sie das für einen Irrtum, wenden Sie sich an uns.")
        case .accountDeletion: germanDeletion
        case .accountDeletionAsked: germanDeletionAsked
        case .passphraseGuessed: germanPassphraseGuessed
        case .totpGuessed: germanTOTPGuessed
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .emailChangeCode, .pinResetCode, .passphraseReset, .ownerInvitation, .passphraseHint,
            .addressChanged, .addressesChanged, .providerConnected, .deviceAdded, .deviceCertified,
            .notification, .subscriberFails, .subscriberStopped:
            german(kind)
        }
    }

    private static let germanRemoveIt =
        "Waren Sie das nicht, entfernen Sie sie unter „Geräte“ in Ihrem Konto, setzen Sie eine neue "
        + "Passphrase und melden Sie sich bei uns."

    private static let germanDeviceAdded =
        MailText(
            subject: "Ein neues Gerät nutzt Ihr Konto bei {product}",
            preview: "Waren Sie das?", heading: "Ein neues Gerät",
            introduction: "Die App „{device}“ hat seit {time} Zugang zu Ihrem Konto bei {product}.",
            closing: germanRemoveIt)

    private static let germanDeviceCertified =
        MailText(
            subject: "Ein Gerät hat vollen Zugriff auf Ihr Konto bei {product}",
            preview: "Waren Sie das?", heading: "Ein Gerät hat vollen Zugriff",
            introduction:
                "Die App „{device}“ kann seit {time} alles sehen und ändern, was in Ihrem "
                + "Konto bei {product} ist.",
            closing: germanRemoveIt)
}
