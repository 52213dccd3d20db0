internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The task of a service that tells people from programs, where the realm has one.
struct CaptchaWidget: Sendable {
    let kind: CaptchaKind
    private let siteKey: String
    fileprivate let address: String

    /// Nil without a captcha.
    init?(_ settings: Settings) {
        kind = settings[SettingCatalogue.captcha]
        guard kind != .none else { return nil }
        siteKey = settings[SettingCatalogue.captchaSiteKey] ?? ""
        address = settings[SettingCatalogue.captchaAddress] ?? kind.usualAddress
    }

    var html: HTML { HTML.element(.div, .class(kind.name), .siteKey(siteKey)) {} }

    /// The member of a form that its script adds.
    var field: String { "\(kind.name)-response" }

    static let members: [Member] = CaptchaKind.allCases.filter { $0 != .none }.map {
        .optional("\($0.name)-response", .text(0...8192), "Response token of the captcha.")
    }
}

extension CaptchaKind {
    /// Of the element that its script draws in.
    fileprivate var name: String {
        switch self {
        case .none: ""
        case .recaptcha: "g-recaptcha"
        case .hcaptcha: "h-captcha"
        case .turnstile: "cf-turnstile"
        }
    }

    /// Its script.
    var script: String {
        switch self {
        case .none: ""
        case .recaptcha: "https://www.google.com/recaptcha/api.js"
        case .hcaptcha: "https://js.hcaptcha.com/1/api.js"
        case .turnstile: "https://challenges.cloudflare.com/turnstile/v0/api.js"
        }
    }

    /// Where its script loads the rest of itself from.
    var sources: String {
        switch self {
        case .none: ""
        case .recaptcha: "https://www.google.com/recaptcha/ https://www.gstatic.com/recaptcha/"
        case .hcaptcha: "https://hcaptcha.com https://*.hcaptcha.com"
        case .turnstile: "https://challenges.cloudflare.com"
        }
    }

    fileprivate var usualAddress: String {
        switch self {
        case .none: ""
        case .recaptcha: "https://www.google.com/recaptcha/api/siteverify"
        case .hcaptcha: "https://api.hcaptcha.com/siteverify"
        case .turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify"
        }
    }
}

extension Call<RealmContext> {
    /// Throws where a person has not solved the task. A service that does not answer lets no request pass: what it
    /// is there to stop costs money.
    func requireCaptcha(_ response: String?) async throws(Problem) {
        guard let widget = CaptchaWidget(context.place.settings) else { return }
        let say = PageLook(context.place, request).say
        guard let response, !response.isEmpty,
            let secret = try await RealmLookups(context).folded(Captcha.self, Captcha.stream)
                .secret,
            await context.upstream.verifies(response, secret, at: widget.address)
        else {
            throw Problem(
                .invalidGrant,
                say(
                    "Please confirm that you are not a robot, and try again.",
                    "Bitte bestätigen Sie, dass Sie kein Roboter sind, und versuchen Sie es noch einmal."
                ))
        }
    }
}
