/// What is said at a field that cannot be taken as it is.
extension Words {
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

    /// Of people and of things that they name.
    var unfitName: String {
        self(
            "Use at most 100 characters, without invisible ones or ones that reverse the text.",
            "Nehmen Sie höchstens 100 Zeichen, ohne unsichtbare oder solche, die den Text umdrehen."
        )
    }
}
