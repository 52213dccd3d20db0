/// How somebody signs in on a page.
public enum BrowserMethod: String, CaseIterable, Sendable {
    case code = "email_code"
    case link = "email_link"
    case passkey
    case passphrase
    /// An app that is signed in opened a web view.
    case sessionCode = "session_code"
}

extension Settings {
    /// Whether people may sign in like this.
    public func offers(_ method: BrowserMethod) -> Bool {
        switch method {
        case .code: self[SettingCatalogue.loginCode]
        case .link: self[SettingCatalogue.loginLink]
        case .passkey: self[SettingCatalogue.loginPasskey]
        case .passphrase: self[SettingCatalogue.loginPassphrase]
        case .sessionCode: self[SettingCatalogue.profile] == .flagship
        }
    }
}
