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

extension Settings {
    /// Whether people may sign in like this.
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
