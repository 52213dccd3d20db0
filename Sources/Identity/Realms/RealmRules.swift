public import JSON

/// What a realm's profile changes, by name: a profile is one value here, and nothing else asks which it is.
public struct RealmRules: Sendable, Equatable {
    /// One owner takes the realm over, signs in by passphrase or session code, and lets installations in.
    public internal(set) var hasOwner = false
    /// Web apps have hosts of their own.
    public internal(set) var servesWebApps = false
    /// Every provider sends people back to the one address that clients of the profile know.
    public internal(set) var sharesProviderRedirect = false
    /// A provider's sign-in may be told by `redirect` where it leads on to.
    public internal(set) var takesProviderReturn = false
    /// Forms carry their token under the name `csrf_token` too.
    public internal(set) var repeatsFormToken = false
    /// Where browsers come to that ask for nothing else: the account, or a login that leads on to it.
    public internal(set) var home = "/account"
    /// Where a passphrase is set anew; nil: under the account's security.
    public internal(set) var passphraseReset: String?
    /// Tenants send people to a page that proves an address, and get tokens for it.
    public internal(set) var servesTenants = false
    /// Devices prove themselves, and show people to services by assertions.
    public internal(set) var servesFederation = false
    /// What holds in the place of the catalogue's defaults, where a setting was not set.
    public internal(set) var defaults: JSONObject = [:]

    static let standard = RealmRules()

    static let flagship: RealmRules = {
        var rules = RealmRules()
        rules.hasOwner = true
        rules.servesWebApps = true
        rules.sharesProviderRedirect = true
        rules.takesProviderReturn = true
        rules.repeatsFormToken = true
        rules.home = "/auth/login"
        rules.passphraseReset = "/auth/passphrase_reset"
        return rules
    }()

    /// A person who proves an unknown address gets an account for it. Lifetimes are those that clients of the profile count on;
    /// another code may be asked for at once, within the rates of addresses, networks and browsers.
    static let verify: RealmRules = {
        var rules = RealmRules()
        rules.servesTenants = true
        rules.defaults = [
            SettingCatalogue.registration.name: .string(RegistrationPosture.jitOnOTP.rawValue),
            SettingCatalogue.codeLifetime.name: 300, SettingCatalogue.otpLifetime.name: 300,
            SettingCatalogue.otpAttempts.name: 5, SettingCatalogue.otpResendDelay.name: 0,
            SettingCatalogue.refreshTokenLifetime.name: .integer(30 * 86_400),
            SettingCatalogue.browserSessionLifetime.name: .integer(30 * 86_400),
        ]
        return rules
    }()

    /// People sign in by passphrase on devices alone, once for a long time: an access token lasts an hour, and is
    /// refreshed for ninety days after it was used last.
    static let federation: RealmRules = {
        var rules = RealmRules()
        rules.servesFederation = true
        rules.defaults = [
            SettingCatalogue.loginPassphrase.name: true,
            SettingCatalogue.accessTokenLifetime.name: 3_600,
            SettingCatalogue.refreshTokenLifetime.name: .integer(90 * 86_400),
            SettingCatalogue.sessionLifetime.name: .integer(3_650 * 86_400),
        ]
        return rules
    }()
}

extension RealmProfile {
    var rules: RealmRules {
        switch self {
        case .standard: .standard
        case .flagship: .flagship
        case .verify: .verify
        case .federation: .federation
        }
    }
}

extension Settings {
    public var rules: RealmRules { self[SettingCatalogue.profile].rules }
}
