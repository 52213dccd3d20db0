/// What the contact of a realm is told.
extension MailText {
    static func englishContact(_ kind: MailKind.Name) -> MailText {
        kind == .subscriberFails ? englishSubscriberFails : englishSubscriberStopped
    }

    static func germanContact(_ kind: MailKind.Name) -> MailText {
        kind == .subscriberFails ? germanSubscriberFails : germanSubscriberStopped
    }

    private static let englishSubscriberFails =
        MailText(
            subject: "{product}: “{app}” takes no events",
            preview: "Nothing has been taken since {time}.",
            heading: "“{app}” takes no events",
            introduction: "Nothing that {product} sends to “{app}” has been taken since {time}. It "
                + "is tried again, and nothing is lost.",
            closing: "Please look at the receiver, and at its last answers. If this goes on for "
                + "days, nothing is sent to it any more until an administrator resumes it.\n\nYou get this "
                + "e-mail as the contact of {product}.")

    private static let englishSubscriberStopped =
        MailText(
            subject: "{product}: no more events for “{app}”",
            preview: "It was stopped on {time}.",
            heading: "“{app}” was stopped",
            introduction: "Since {time} {product} sends nothing to “{app}” any more. Nothing is "
                + "lost: once an administrator resumes it, it goes on where it stopped.",
            closing: "You get this e-mail as the contact of {product}.")

    private static let germanSubscriberFails =
        MailText(
            subject: "{product}: „{app}“ nimmt keine Ereignisse an",
            preview: "Seit {time} wurde nichts angenommen.",
            heading: "„{app}“ nimmt keine Ereignisse an",
            introduction:
                "Seit {time} hat „{app}“ nichts angenommen, was {product} sendet. Es wird "
                + "weiter versucht, und nichts geht verloren.",
            closing: "Bitte sehen Sie nach dem Empfänger und seinen letzten Antworten. Dauert es "
                + "Tage, wird ihm nichts mehr gesendet, bis er wieder eingeschaltet wird.\n\nSie "
                + "bekommen diese E-Mail als Kontakt von {product}.")

    private static let germanSubscriberStopped =
        MailText(
            subject: "{product}: keine Ereignisse mehr für „{app}“",
            preview: "Angehalten am {time}.",
            heading: "„{app}“ wurde angehalten",
            introduction: "Seit {time} sendet {product} nichts mehr an „{app}“. Nichts geht "
                + "verloren: Wird er wieder eingeschaltet, geht es dort weiter, wo es aufhörte.",
            closing: "Sie bekommen diese E-Mail als Kontakt von {product}.")
}
