internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// A request of a page, or of one of its forms.
struct PageRequest {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// Looking at a page.
    func visit() async throws(Problem) -> PageVisit {
        PageVisit(call, try await BrowserSessions(call).current())
    }

    /// Sending a form of a page.
    func submission() async throws(Problem) -> PageVisit {
        let visit = try await visit()
        do throws(Problem) {
            try visit.require(csrfToken, call.request, at: context.place.host)
        } catch {
            var problem = error
            problem.nextPage = ReturnTarget.nextPage(after: call)
            throw problem
        }
        return visit
    }

    /// Whether a page of this place sent it, as far as the browser says.
    var isSentFromHere: Bool { call.request.isSent(fromPagesOf: context.place.host) }

    /// What binds a form to its browser, under either name.
    var csrfToken: String? {
        call.body["form"]?.string ?? call.body[PageVisit.otherName]?.string
    }

    /// The typed mail address. Nil for a malformed text.
    func typedAddress(_ name: String = "email") -> String? {
        call.body[name]?.string.flatMap { text in
            // Keyboards of phones put a space behind a word.
            try? MailAddress(trimmed(text)).text
        }
    }

    /// The same where a phone number may stand in its place.
    func typedSignInAddress() -> SignInAddress? {
        SignInAddress(typed: call.body["email"]?.string ?? "", context.place.settings)
    }

    /// Whether the user signed in so lately that they may change how to sign in.
    func isRecent(_ browser: SignedInBrowser) -> Bool {
        let chosen = context.place.settings[SettingCatalogue.recentSignIn]
        let limit = chosen > 0 ? min(chosen, Self.recent) : Self.recent
        return context.clock.now() < browser.authenticatedAt.adding(seconds: limit)
    }

    /// Maximum age of a recent sign-in in seconds.
    private static let recent: Int64 = 900

    /// The request of an application that a page is in the middle of.
    func applicationRequest(
        _ returnTarget: ReturnTarget, for browser: SignedInBrowser?
    ) async throws(Problem) -> ApplicationRequest? {
        guard let sealed = returnTarget.sealed else { return nil }
        return try await context.applicationRequests.request(sealed, for: browser, call)
    }

    /// The language that the caller would like to read: what the application's request says of it goes
    /// before what the browser says, as on pages.
    var readersLanguage: String? {
        let asked = ReturnTarget(call).sealed.flatMap { context.pendingRequest($0) }?.languages
        if let language = asked.flatMap({ LocalizedText.language(among: $0) }) {
            return language.rawValue
        }
        return MailLanguage(accepted: call.request.headers["Accept-Language"])?.rawValue
    }

    /// Seconds in which a user presses Enter a second time.
    private static let moment: Int64 = 60

    /// Where a sign-in form leads that was sent twice: the first one signed the user in, and the
    /// second still has the CSRF token of a signed-out browser. Nothing of it is taken; but if the
    /// browser has just been signed in to the account that the form names, the user is led on. Nil
    /// for any other form.
    func onwardIfSentAgain() async throws(Problem) -> Response? {
        guard let browser = try await BrowserSessions(call).current(),
            isSentFromHere,
            !PageVisit(call, browser).bears(csrfToken),
            context.clock.now() < browser.authenticatedAt.adding(seconds: Self.moment),
            let address = typedSignInAddress(),
            try await RealmLookups(context).folded(
                Mailbox.self, context.mint.mailbox(address.text)
            ).account == browser.subject
        else { return nil }
        return .seeOther(ReturnTarget(call).target)
    }
}
