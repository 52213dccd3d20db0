/// Which service tells people from programs before a code is sent: they share one protocol, `siteverify`.
public enum CaptchaKind: String, CaseIterable, Sendable {
    /// No captcha.
    case none
    case recaptcha
    case hcaptcha
    case turnstile
}

/// Settings of the service.
extension SettingCatalogue {
    public static let captcha = Declare.choice(
        "captcha", CaptchaKind.none,
        "What tells people from programs before a code is sent from the page for tenants")
    public static let captchaSiteKey = Declare.text(
        "captcha_site_key", .label(limit: 200), "What the service knows the realm's pages by")
    public static let captchaAddress = Declare.text(
        "captcha_address", .webAddress,
        "Where the service is asked (siteverify), where that is not the usual place")

    static let captchas = [captcha.setting, captchaSiteKey.setting, captchaAddress.setting]
}
