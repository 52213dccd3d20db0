extension MailText {
    /// What is mailed about passphrases, and the codes that change something.
    static func germanPassphrase(_ kind: MailKind.Name) -> MailText {
        switch kind {
        case .emailChangeCode: germanEmailChangeCode
        case .pinResetCode: germanPINResetCode
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
                preview: "Wählen Sie eine Passphrase, um die Einrichtung abzuschließen.",
                heading: "Einrichtung abschließen",
                introduction: "Mit diesem Link wählen Sie Ihre Passphrase. Danach können Sie "
                    + "{product} nutzen.",
                button: "Passphrase wählen",
                closing: "Geben Sie den Link nicht weiter: Mit ihm bekommt man Zugriff auf "
                    + "{product} an Ihrer Stelle.")
        case .passphraseHint:
            MailText(
                subject: "Ihr Hinweis für {product}",
                preview: "Sie wollten an Ihre Passphrase erinnert werden.",
                heading: "Ihr Hinweis",
                introduction: "Diesen Hinweis haben Sie gewählt, um sich an Ihre Passphrase zu "
                    + "erinnern.",
                closing: "Haben Sie ihn nicht angefordert, können Sie diese E-Mail ignorieren. "
                    + "Verrät der Hinweis Ihre Passphrase, ändern Sie die Passphrase.")
        case .emailOtp, .secondFactorCode, .certificationCode, .magicLink, .emailVerification,
            .passkeyEnrolled, .passkeyRemoved, .totpEnrolled, .totpRemoved, .passphraseSet,
            .pinSet,
            .passphraseRemoved, .addressChanged, .addressesChanged, .signedOutEverywhere,
            .accountDisabled,
            .accountDeletion, .accountDeletionAsked, .passphraseGuessed, .totpGuessed,
            .providerConnected,
            .deviceAdded, .deviceCertified, .notification, .subscriberFails,
            .subscriberStopped:
            german(kind)
        }
    }

    static let germanPINSet =
        MailText(
            subject: "PIN für Ihr Konto bei {product} gesetzt",
            preview: "Waren Sie das?", heading: "Eine neue PIN",
            introduction: "Für Ihr Konto bei {product} wurde am {time} eine PIN gesetzt oder "
                + "geändert, mit der man sich in einer App anmeldet.",
            closing: warIchNicht)

    static let germanPINResetCode =
        MailText(
            subject: "PIN für {product} zurücksetzen",
            preview: "Der Code gilt {minutes}.",
            heading: "PIN zurücksetzen",
            introduction:
                "Geben Sie diesen Code in der App ein, um für Ihr Konto bei {product} eine "
                + "neue PIN zu setzen. Er gilt {minutes} und nur einmal.",
            closing:
                "Haben Sie keinen Code angefordert, können Sie diese E-Mail ignorieren: Ihre PIN "
                + "bleibt, wie sie ist. Geben Sie den Code nicht weiter: Mit ihm kann man eine PIN für "
                + "Ihr Konto setzen.\n\nNiemand bei {product} wird Sie je danach fragen.")

    static let germanPassphraseSet =
        MailText(
            subject: "Passphrase für Ihr Konto bei {product} gesetzt",
            preview: "Waren Sie das?", heading: "Eine neue Passphrase",
            introduction: "Die Passphrase für Ihr Konto bei {product} wurde am {time} gesetzt "
                + "oder geändert.",
            closing: warIchNicht)

    static let germanEmailChangeCode =
        MailText(
            subject: "Bestätigen Sie Ihre neue Adresse für {product}",
            preview: "Der Code gilt {minutes}.",
            heading: "Ihre neue E-Mail-Adresse",
            introduction: "Diese E-Mail-Adresse soll zu einem Konto bei {product} gehören. Haben "
                + "Sie das veranlasst, geben Sie diesen Code dort ein, wo Sie ihn angefordert "
                + "haben. Er gilt {minutes} und nur einmal.",
            closing:
                "Haben Sie das nicht veranlasst, ignorieren Sie diese E-Mail und geben Sie den Code nicht "
                + "weiter: Ohne ihn ändert sich nichts.\n\nNiemand bei {product} wird Sie je "
                + "danach fragen.")

    static let germanProviderConnected =
        MailText(
            subject: "Ein weiterer Weg, sich bei {product} anzumelden",
            preview: "Waren Sie das?", heading: "Ein weiterer Weg, sich anzumelden",
            introduction: "Mit Ihrem Konto bei „{device}“ kann man sich bei Ihrem Konto bei "
                + "{product} anmelden. Verbunden wurde es am {time}.",
            closing: warIchNicht)

    static let germanDeletion =
        MailText(
            subject: "Ihr Konto bei {product} wird gelöscht",
            preview: "Am {time}, wenn es nicht zurückgenommen wird.",
            heading: "Ihr Konto wird gelöscht",
            introduction: "Am {time} wird Ihr Konto bei {product} mit allem darin gelöscht. Bis "
                + "dahin können Sie sich nicht anmelden.",
            closing: "Nur das Team von {product} kann das zurücknehmen. Kommt es unerwartet, oder "
                + "möchten Sie das Konto behalten, wenden Sie sich vorher dorthin.")

    static let germanDeletionAsked =
        MailText(
            subject: "Ihr Konto bei {product} ist zur Löschung vorgemerkt",
            preview: "Bis zum {time} können Sie es sich anders überlegen.",
            heading: "Ihr Konto wird gelöscht",
            introduction: "Wie aus Ihrem Konto verlangt, wird Ihr Konto bei {product} am {time} "
                + "mit allem darin gelöscht. Bis dahin können Sie die Löschung hier zurücknehmen.",
            button: "Konto behalten",
            closing: "Waren Sie das, ist nichts zu tun. Wenn nicht, behalten Sie das Konto und "
                + "ändern Sie dann, wie Sie sich anmelden.")

    static let germanTOTPGuessed =
        MailText(
            subject: "Falsche Authenticator-Codes für Ihr Konto bei {product}",
            preview: "Die Versuche sind gescheitert. Waren Sie das?",
            heading: "Falsche Codes der Authenticator-App",
            introduction: "Am {time} wurde mehrmals ein falscher Code Ihrer Authenticator-App "
                + "eingegeben. Der erste Schritt für Ihr Konto bei {product} war da schon bestanden: "
                + "mit Ihrer Passphrase, Ihrem Postfach oder einem angemeldeten Gerät. Einige "
                + "Minuten lang wird kein Code angenommen.",
            closing:
                "Waren Sie das, warten Sie etwas, oder nehmen Sie einen Wiederherstellungscode. Wenn "
                + "nicht, wählen Sie eine andere Passphrase und melden Sie sich überall bei {product} "
                + "ab.")

    static let germanPassphraseGuessed =
        MailText(
            subject: "Falsche Passphrasen für Ihr Konto bei {product}",
            preview: "Die Versuche sind gescheitert. Waren Sie das?",
            heading: "Falsche Passphrasen",
            introduction: "Am {time} wurde für Ihr Konto bei {product} mehrmals eine falsche "
                + "Passphrase eingegeben. Die Versuche sind gescheitert, und einige Minuten lang wird "
                + "keine angenommen.",
            closing:
                "Waren Sie das, warten Sie etwas, oder melden Sie sich anders an. Wenn nicht, ist "
                + "nichts zu tun, solange Ihre Passphrase lang ist und nirgends sonst gilt.")

    static let germanNotification =
        MailText(
            subject: "{title} ({product})", preview: "{app} hat Neues für Sie.",
            heading: "{title}",
            introduction: "{message}",
            closing: "{app} hat das an Ihre Geräte geschickt. Keines hat es angenommen, "
                + "deshalb kommt es per E-Mail.")
}
