internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// The page between this server and a client that registered itself, which no administrator has checked: without
/// it every such client would make an open redirector of the realm (RFC 9700 section 4.11.2).
struct UncheckedClientPage {
    enum NextRequest {
        case link(String)
        case form(String, [(name: String, value: String)])
    }

    /// The host of a site, or the scheme that an app claims.
    let place: String
    let way: NextRequest
    /// What the client is told, where its request came to nothing.
    var code: String?

    func response(_ status: Status, in look: PageLook) -> Response {
        let say = look.say
        let title = say("Continue to \(place)?", "Weiter zu \(place)?")
        return Page(
            title: title, look: look, leadsAway: isForm,
            content: Page.card {
                HTML.element(.h1, .class("break")) { title }
                HTML.element(.p, .class("break")) {
                    say(
                        "An app that has not been verified leads you to ",
                        "Eine App, die nicht überprüft ist, führt Sie zu ")
                    HTML.element(.strong) { place }
                    say(
                        ". If you did not expect that, close this page.",
                        ". Wenn Sie das nicht erwartet haben, schließen Sie diese Seite.")
                }
                if let code {
                    HTML.element(.p, .class("soft small")) {
                        say("The app is told: ", "Die App erfährt: ")
                        HTML.element(.code) { code }
                    }
                }
                onward(say("Continue", "Weiter"))
            }
        ).response(status)
    }

    private var isForm: Bool {
        switch way {
        case .form: true
        case .link: false
        }
    }

    private func onward(_ text: String) -> HTML {
        switch way {
        case .link(let address):
            HTML.element(.a, .appHref(address), .class("button second")) { text }
        case .form(let address, let members):
            HTML.element(.form, .method("post"), .action(address)) {
                for member in members { Parts.hidden(member.name, member.value) }
                Parts.button(text, look: "second")
            }
        }
    }
}

extension Call<RealmContext> {
    /// Whether a client may lead the browser there by itself: it is checked, or the person who is signed
    /// in has agreed before that it leads them there.
    func mayLead(_ client: KnownClient, to place: String) async throws(Problem) -> Bool {
        guard client.metadata.isUnchecked else { return true }
        guard !isFormWithoutBrowser, let browser = try await BrowserSessions(self).current() else {
            return false
        }
        let id = context.mint.consent(of: browser.subject, to: client.id)
        return try await context.ask(ConsentView.byID, id)?.given.agreed(leadingTo: place) != nil
    }
}
