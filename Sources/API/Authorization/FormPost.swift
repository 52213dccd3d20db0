internal import HTML
internal import HTTP

/// An answer that a browser hands to the client as a form (OAuth 2.0 Form Post Response Mode). Without
/// scripts somebody has to press the button.
enum FormPost {
    static let scriptPath = "/connect/form-post.js"

    static func page(
        to redirectURI: String, _ members: [(name: String, value: String)]
    ) -> Response {
        let page = HTML.document(language: "en") {
            HTML.element(.meta, .charset("utf-8"))
            HTML.element(
                .meta, .name("viewport"), .content("width=device-width, initial-scale=1"))
            HTML.element(.meta, .name("color-scheme"), .content("light dark"))
            HTML.element(.title) { "One moment" }
            HTML.element(.link, .rel("stylesheet"), .href(AssetRoutes.sheetPath))
            HTML.element(.link, .rel("stylesheet"), .href(AssetRoutes.themePath(.usual)))
        } body: {
            HTML.element(.header, .class("top")) { "" }
            HTML.element(.main, .id("main")) {
                Page.card { form(redirectURI, members) }
            }
            HTML.verbatim("<script src=\"/connect/form-post.js\"></script>")
        }
        var response = Response(status: .ok, headers: Headers(), body: page.bytes)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; style-src 'self'; script-src 'self'; "
            + "form-action \(origin(of: redirectURI)); frame-ancestors 'none'; base-uri 'none'"
        return response
    }

    /// Nobody reads it where scripts run.
    private static func form(
        _ redirectURI: String, _ members: [(name: String, value: String)]
    ) -> HTML {
        HTML.element(.form, .method("post"), .action(redirectURI)) {
            HTML.element(.h1) { "One moment" }
            HTML.element(.p) { "You are being led back to the application." }
            for member in members { Parts.hidden(member.name, member.value) }
            Parts.button("Continue")
        }
    }

    static let script = "document.forms[0].submit();\n"

    /// A form leads to web pages only.
    static func canReach(_ redirectURI: String) -> Bool {
        guard let parts = URLParts.parse(redirectURI) else { return false }
        return parts.scheme == "https" || parts.scheme == "http"
    }

    private static func origin(of redirectURI: String) -> String {
        guard let parts = URLParts.parse(redirectURI), let host = parts.host else {
            return "'none'"
        }
        let name = parts.address?.isIPv6 == true ? "[\(host)]" : host
        return "\(parts.scheme)://\(name)" + (parts.port.map { ":\($0)" } ?? "")
    }
}
