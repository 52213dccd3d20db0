/// What a message to a phone says: one line that fits where a message ends, the code first, so that it can be
/// read on a locked screen and is found by what types it in.
public struct TextMessage: Sendable, Hashable {
    public let text: String
    /// The digits alone, where digits are what it brings.
    public let code: String?
    public let language: MailLanguage

    /// More would make two messages of it.
    private static let longestName = 40

    public init(code: String, minutes: Int, product: String, in language: MailLanguage) {
        self.init(code, minutes, product, language) { code, product in
            switch language {
            case .english: "\(code) is your code for \(product)."
            case .german: "\(code) ist Ihr Code für \(product)."
            }
        }
    }

    /// Brings a code that sets another PIN.
    public init(
        pinReset code: String, minutes: Int, product: String, in language: MailLanguage
    ) {
        self.init(code, minutes, product, language) { code, product in
            switch language {
            case .english: "\(code) is your code to reset your PIN for \(product)."
            case .german: "\(code) ist Ihr Code, um Ihre PIN für \(product) zurückzusetzen."
            }
        }
    }

    private init(
        _ code: String, _ minutes: Int, _ product: String, _ language: MailLanguage,
        says opening: (_ code: String, _ product: String) -> String
    ) {
        let code = singleLine(code, maximum: 64)
        let opening = opening(code, singleLine(product, maximum: Self.longestName))
        self.code = code
        self.language = language
        text =
            switch language {
            case .english:
                "\(opening) It expires in \(language.minutes(minutes)). Don't share it with anyone."
            case .german:
                "\(opening) Er gilt \(language.minutes(minutes)). Geben Sie ihn niemandem weiter."
            }
    }

    /// Brings a link, which a person opens on any device.
    public init(link: MailLink, minutes: Int, product: String, in language: MailLanguage) {
        let product = singleLine(product, maximum: Self.longestName)
        code = nil
        self.language = language
        text =
            switch language {
            case .english:
                "Open this link to sign in to \(product). It expires in "
                    + "\(language.minutes(minutes)): \(link.url)"
            case .german:
                "Öffnen Sie diesen Link, um sich bei \(product) anzumelden. Er gilt "
                    + "\(language.minutes(minutes)): \(link.url)"
            }
    }
}
