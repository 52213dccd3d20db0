internal import HTML
internal import HTTP
internal import Identity
internal import Values

/// How the pages of a realm look, and in whose name they speak.
public struct PageLook: Sendable {
    let say: LocalizedText
    let name: String
    let logo: String?
    let accent: Accent
    let home: String?

    /// The languages are those that an application says its person likes (`ui_locales`).
    init(_ place: Place, _ request: Request, languages: String? = nil) {
        let settings = place.settings
        say = LocalizedText(
            language: languages.flatMap { LocalizedText.language(among: $0) }
                ?? LocalizedText.language(
                    of: request, otherwise: settings[SettingCatalogue.language]))
        name = settings[SettingCatalogue.displayName]
        // Nothing is fetched in the open.
        logo = settings[SettingCatalogue.logoURL].flatMap {
            URLParts.parse($0)?.scheme == "https" ? $0 : nil
        }
        accent = settings[SettingCatalogue.accentColour].flatMap { Accent($0) } ?? .usual
        home = place.home
    }

    /// Where nothing is known of the realm.
    init(_ request: Request) {
        say = LocalizedText(language: LocalizedText.language(of: request, otherwise: .english))
        name = ""
        logo = nil
        accent = .usual
        home = nil
    }
}

/// A page: all of it but what every page has.
struct Page: Sendable {
    var title: String
    var look: PageLook
    var isWide = false
    /// A script of ours, where it needs one.
    var script: String?
    /// Whether a form of it may lead to another site, as an application's request does: browsers hold
    /// `form-action` also against where an answer leads on to.
    var leadsAway = false
    /// A script of a service elsewhere, and where that loads the rest of itself from.
    var foreignScript: (address: String, sources: String)?
    /// The origin whose pages may show it in a frame.
    var framedBy: String?
    var content: HTML

    func response(_ status: Status = .ok) -> Response {
        var response = Response(status: status, headers: Headers(), body: html.bytes)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] = policy
        // Without it browsers do not say which site a form comes from.
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Permissions-Policy"] =
            "publickey-credentials-get=(self), publickey-credentials-create=(self)"
        return response
    }

    private var policy: String {
        let logo = look.logo.flatMap { URLParts.parse($0) }.flatMap { parts in
            parts.host.map { host in
                let port = parts.port.map { ":\($0)" } ?? ""
                return " https://\(host)\(port)"
            }
        }
        var rules = [
            "default-src 'none'", "style-src 'self'", "img-src 'self'\(logo ?? "")",
            "base-uri 'none'",
        ]
        // First where it allows any origin: the router looks for it there.
        rules.insert(
            "frame-ancestors \(framedBy ?? "'none'")", at: framedBy == nil ? rules.endIndex : 0)
        let sources = foreignScript.map { " \($0.sources)" } ?? ""
        if script != nil || foreignScript != nil {
            rules += ["script-src 'self'\(sources)", "connect-src 'self'\(sources)"]
        }
        if foreignScript != nil { rules.append("frame-src\(sources)") }
        if !leadsAway { rules.append("form-action 'self'") }
        return rules.joined(separator: "; ")
    }

    var html: HTML {
        HTML.document(language: look.say.language.rawValue) {
            HTML.element(.meta, .charset("utf-8"))
            HTML.element(
                .meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
            HTML.element(.meta, .name("robots"), .content("noindex"))
            HTML.element(.meta, .name("color-scheme"), .content("light dark"))
            HTML.element(.title) { look.name.isEmpty ? title : "\(title) · \(look.name)" }
            HTML.element(.link, .rel("stylesheet"), .href(AssetRoutes.sheetPath))
            HTML.element(.link, .rel("stylesheet"), .href(AssetRoutes.themePath(look.accent)))
            if let script { HTML.script(from: script) }
            if let foreignScript { HTML.script(from: foreignScript.address) }
        } body: {
            HTML.element(.a, .class("skip"), .href("#main")) {
                look.say("Skip to content", "Zum Inhalt springen")
            }
            HTML.element(.header, .class("top")) { brand }
            HTML.element(.main, .id("main"), .when(isWide, .class("wide"))) { content }
            HTML.element(.footer, .class("foot")) { look.name }
        }
    }

    private var brand: HTML {
        HTML.element(.div, .class("brand")) {
            if let logo = look.logo {
                HTML.element(.img, .source(logo), .alternative(look.name))
            } else if let first = look.name.first {
                HTML.element(.span, .class("mark"), .hiddenFromReaders) {
                    String(first).uppercased()
                }
                HTML.element(.span) { look.name }
            }
        }
    }

    /// Most pages are one card.
    static func card(@HTMLBuilder _ content: () -> HTML) -> HTML {
        HTML.element(.div, .class("card"), content: content)
    }
}
