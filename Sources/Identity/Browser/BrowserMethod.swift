internal import EventSourcing

/// How a person signs in on a page.
public enum BrowserMethod: String, CaseIterable, Sendable {
    case code = "email_code"
    case link = "email_link"
    case passkey
    case passphrase
    /// An app that is signed in opened a web view.
    case sessionCode = "session_code"
    /// The owner of a flagship realm typed the passphrase.
    case ownerPassphrase = "owner_passphrase"
    /// They came with a link that was mailed to them.
    case ownerLink = "owner_link"
    /// An OpenID provider said who it is.
    case provider
}

extension BrowserMethod {
    /// In the place of `email_code`, where the code went to a phone: the channel says by what.
    private static let phoneCode = "phone_code"

    /// As events have them. Events from before have `email_code` for phones too.
    static let recorded = allCases.map(\.rawValue) + [phoneCode]

    /// What stands on record.
    public func recorded(from place: SignInPlace) -> String {
        self == .code && place.channel != nil ? Self.phoneCode : rawValue
    }

    fileprivate init?(recorded text: String) {
        self.init(rawValue: text == Self.phoneCode ? Self.code.rawValue : text)
    }
}

extension Field<(BrowserMethod, SignInPlace)> {
    static func way(_ meaning: String) -> Field {
        mapped(
            .text("method", .choice(BrowserMethod.recorded), meaning), .opened,
            write: { ($0.recorded(from: $1), $1) },
            read: { text, place in BrowserMethod(recorded: text).map { ($0, place) } })
    }
}

extension Settings {
    /// Whether the settings allow signing in with the method.
    public func offers(_ method: BrowserMethod) -> Bool {
        switch method {
        case .code: self[SettingCatalogue.loginCode]
        case .link: self[SettingCatalogue.loginLink]
        case .passkey: self[SettingCatalogue.loginPasskey]
        case .passphrase: self[SettingCatalogue.loginPassphrase]
        case .sessionCode, .ownerPassphrase: rules.hasOwner
        // Whose word is taken, and for whom, is said of each.
        case .provider: true
        case .ownerLink:
            rules.hasOwner && self[SettingCatalogue.ownerLinks]
        }
    }
}
