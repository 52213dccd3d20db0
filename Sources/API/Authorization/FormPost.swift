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
            HTML.element(.title) { "One moment" }
        } body: {
            HTML.element(.form, .method("post"), .action(redirectURI)) {
                for member in members {
                    HTML.element(
                        .input, .type("hidden"), .name(member.name), .value(member.value))
                }
                HTML.element(.button, .type("submit")) { "Continue" }
            }
            HTML.verbatim("<script src=\"/connect/form-post.js\"></script>")
        }
        var response = Response(status: .ok, headers: Headers(), body: page.bytes)
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        response.headers["Content-Security-Policy"] =
            "default-src 'none'; script-src 'self'; form-action \(origin(of: redirectURI)); "
            + "frame-ancestors 'none'; base-uri 'none'"
        return response
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
