internal import Identity
internal import PhoneNumbers

/// What is said at a field that cannot be taken as it is.
extension LocalizedText {
    /// The label of the address field at sign-in and registration.
    func signInAddress(_ takesPhones: Bool) -> String {
        takesPhones
            ? self("E-mail address or phone number", "E-Mail-Adresse oder Telefonnummer")
            : self("E-mail address", "E-Mail-Adresse")
    }

    /// Of what was typed where a mail address or a phone number belongs.
    func whatIsWrong(with typed: String, _ settings: Settings) -> String {
        guard !typed.utf8.contains(UInt8(ascii: "@")) else { return wholeAddress }
        do throws(PhoneFault) {
            _ = try PhoneNumber(typed: typed, settings)
            return wholeAddress
        } catch {
            return switch error {
            case .notOffered: wholeAddress
            case .noNumber:
                self(
                    "Enter a whole e-mail address, or a phone number with its country, such as +41 78 123 45 67.",
                    "Geben Sie eine vollständige E-Mail-Adresse ein oder eine Telefonnummer mit Landesvorwahl, etwa +41 78 123 45 67."
                )
            case .noMobile:
                self(
                    "Enter the number of a mobile phone.",
                    "Geben Sie die Nummer eines Mobiltelefons ein.")
            case .foreign:
                self(
                    "We can't send messages to that country. Use your e-mail address.",
                    "In dieses Land können wir keine Nachrichten senden. Nehmen Sie Ihre E-Mail-Adresse."
                )
            }
        }
    }

    var wholeNumber: String {
        self(
            "Enter a phone number with its country, such as +41 78 123 45 67.",
            "Geben Sie eine Telefonnummer mit Landesvorwahl ein, etwa +41 78 123 45 67.")
    }

    var wholeAddress: String {
        self(
            "Enter a complete e-mail address, such as ann@example.org.",
            "Geben Sie eine vollständige E-Mail-Adresse ein, etwa anna@example.org.")
    }

    /// Said wherever a mailed link leads that was used, is too old, or came before a newer one.
    var linkExpired: String {
        self(
            "This link has expired or was already used",
            "Dieser Link ist abgelaufen oder wurde schon benutzt")
    }

    var adviceOnExpiredLink: String {
        self(
            "Use the link in the newest e-mail, or ask for a new one.",
            "Nehmen Sie den Link aus der neuesten E-Mail, oder fordern Sie einen neuen an.")
    }

    /// The message for an invalid name, of a person or an object.
    var unfitName: String {
        self(
            "Use at most 100 characters, without invisible ones or ones that reverse the text.",
            "Nehmen Sie höchstens 100 Zeichen, ohne unsichtbare oder solche, die den Text umdrehen."
        )
    }
}
