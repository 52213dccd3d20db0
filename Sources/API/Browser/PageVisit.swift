internal import Cryptography
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A visitor of a page: the user, if signed in, how pages look to them, and what their forms are
/// bound to.
struct PageVisit: Sendable {
    let look: PageLook
    let browser: SignedInBrowser?
    private let secret: CSRFSecret
    private let mint: TokenMint
    /// Clients of the flagship profile look for it under this name.
    private let namesItTwice: Bool

    static let otherName = "csrf_token"

    init(_ call: Call<RealmContext>, _ browser: SignedInBrowser?) {
        let asked = ReturnTarget(call).sealed.flatMap { call.context.pendingRequest($0) }
        look = PageLook(call.context.place, call.request, languages: asked?.languages)
        self.browser = browser
        secret = CSRFSecret(call.request)
        mint = call.context.mint
        namesItTwice = call.context.place.settings.rules.repeatsFormToken
    }

    var say: LocalizedText { look.say }

    /// What a ceremony that begins here is bound to.
    var formName: String { Base64URL.encode(mint.derive(.formName, secret.bytes)) }

    /// A form that this browser alone can send back.
    func form(
        _ action: String, _ attributes: Attribute = .when(false, .hidden),
        @HTMLBuilder content: () -> HTML
    ) -> HTML {
        HTML.element(.form, .method("post"), .action(action), attributes) {
            Parts.hidden("form", mint.csrfToken(secret, browser))
            if namesItTwice { Parts.hidden(Self.otherName, mint.csrfToken(secret, browser)) }
            content()
        }
    }

    func page(
        _ title: String, status: Status = .ok, isWide: Bool = false, script: String? = nil,
        leadsAway: Bool = false, foreignScript: (address: String, sources: String)? = nil,
        @HTMLBuilder content: () -> HTML
    ) -> Response {
        var response = Page(
            title: title, look: look, isWide: isWide, script: script, leadsAway: leadsAway,
            foreignScript: foreignScript, content: content()
        ).response(status)
        if secret.isNew { response.headers.append("Set-Cookie", PageCookie.form.line(secret.text)) }
        return response
    }

    /// A page that says one thing, and where to go on from there.
    func notice(
        _ title: String, _ text: String, _ status: Status = .ok,
        link: (text: String, place: String)? = nil
    ) -> Response {
        page(title, status: status) {
            Page.card {
                HTML.element(.h1) { title }
                HTML.element(.p) { text }
                if let link { Parts.link(link.text, to: link.place, look: "button") }
            }
        }
    }

    /// Throws what was not sent by a form that this browser was shown.
    func require(_ token: String?, _ request: Request, at host: String) throws(Problem) {
        guard bears(token), request.isSent(fromPagesOf: host) else { throw Problem(.foreignForm) }
    }

    /// Whether a form's CSRF token is of this browser, and of the user who is signed in with it
    /// now.
    func bears(_ token: String?) -> Bool {
        guard !secret.isNew, let token else { return false }
        return mint.isFormToken(token, secret, browser)
    }
}

extension Response {
    /// Where a user who has to be signed in is sent first.
    static func signInFirst(_ path: String) -> Response {
        .seeOther(ReturnTarget(path: path).link("/login"))
    }

    /// A GET of another place, after a request of any method (RFC 9110 section 15.4.4).
    static func seeOther(_ place: String) -> Response {
        var response = Response(status: .seeOther, headers: Headers(), body: [])
        response.headers["Location"] = place
        return response
    }
}

extension Body {
    /// A form of a page: what is missing is asked for again, and not refused.
    static func page(_ members: [Member]) -> Body {
        .form(
            .object(
                [
                    .optional("form", .text(0...200), "CSRF token of the form."),
                    .optional(
                        PageVisit.otherName, .text(0...200),
                        "CSRF token of the form, under the name that some clients use."),
                ] + members), example: [:])
    }
}

extension Answer {
    static let page = Answer(status: .ok, description: "A page.", content: .text("text/html"))
}
