/// What a message to a phone says: one line that fits where a message ends, the code first, so that it can be
/// read on a locked screen and is found by what types it in.
public struct TextMessage: Sendable, Hashable {
    public let text: String
    public let code: String
    public let language: MailLanguage

    /// More would make two messages of it.
    private static let longestName = 40

    public init(code: String, minutes: Int, product: String, in language: MailLanguage) {
        let product = singleLine(product, maximum: Self.longestName)
        self.code = singleLine(code, maximum: 64)
        self.language = language
        text =
            switch language {
            case .english:
                "\(self.code) is your code for \(product). It expires in \(language.minutes(minutes)). "
                    + "Don't share it with anyone."
            case .german:
                "\(self.code) ist Ihr Code für \(product). Er gilt \(language.minutes(minutes)). "
                    + "Geben Sie ihn niemandem weiter."
            }
    }
}
