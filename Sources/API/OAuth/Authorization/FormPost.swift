internal import HTML
internal import HTTP

/// An answer that a browser hands to the client as a form (OAuth 2.0 Form Post Response Mode).
/// Without scripts the user has to press the button.
enum FormPost {
    static let scriptPath = "/connect/form-post.js"

    static func page(
        to redirectURI: String, _ members: [(name: String, value: String)], in look: PageLook
    ) -> Response {
        let say = look.say
        return Page(
            title: say("One moment", "Einen Moment"), look: look, script: scriptPath,
            // Where to is known, but not where the application leads on to from there.
            leadsAway: true,
            content: Page.card {
                // Not seen where scripts run.
                HTML.element(.form, .method("post"), .action(redirectURI)) {
                    HTML.element(.h1) { say("One moment", "Einen Moment") }
                    HTML.element(.p) {
                        say(
                            "You are being led back to the application.",
                            "Sie werden zur Anwendung zurückgeführt.")
                    }
                    for member in members { Parts.hidden(member.name, member.value) }
                    Parts.button(say("Continue", "Weiter"))
                }
            }
        ).response()
    }

    static let script = "document.forms[0].submit();\n"

    /// A form leads to web pages only.
    static func canReach(_ redirectURI: String) -> Bool {
        guard let parts = URLParts.parse(redirectURI) else { return false }
        return parts.scheme == "https" || parts.scheme == "http"
    }
}
