/// What is said at a field that cannot be taken as it is.
extension Words {
    var wholeAddress: String {
        self(
            "Enter a whole mail address, such as ann@example.org.",
            "Geben Sie eine vollständige E-Mail-Adresse ein, etwa anna@example.org.")
    }

    /// Of people and of things that they name.
    var unfitName: String {
        self(
            "Use 100 characters at most, and none that cannot be seen or that turn the text around.",
            "Nehmen Sie höchstens 100 Zeichen, und keine, die man nicht sieht oder die den Text umdrehen."
        )
    }
}
