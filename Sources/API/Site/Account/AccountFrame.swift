internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What all pages of the user's own account have: the user, the navigation, and what was done just
/// now.
struct AccountFrame: Sendable {
    enum Tab: String, CaseIterable {
        case overview = "/account"
        case security = "/account/security"
        case sessions = "/account/sessions"
        case activity = "/account/activity"
        case data = "/account/data"

        func name(_ say: LocalizedText) -> String {
            switch self {
            case .overview: say("Overview", "Übersicht")
            case .security: say("Security", "Sicherheit")
            case .sessions: say("Devices", "Geräte")
            case .activity: say("Activity", "Aktivität")
            case .data: say("Data", "Daten")
            }
        }
    }

    let visit: PageVisit
    let browser: SignedInBrowser
    /// What the address says was done: one of ours, or nothing.
    let done: AccountNote?

    var say: LocalizedText { visit.say }
    var account: UUID { browser.subject }

    func page(
        _ tab: Tab, _ title: String? = nil, status: Status = .ok, script: String? = nil,
        leadsAway: Bool = false, @HTMLBuilder content: () -> HTML
    ) -> Response {
        let name = tab.name(say)
        return visit.page(
            title ?? name, status: status, isWide: true, script: script, leadsAway: leadsAway
        ) {
            HTML.element(.nav, .class("tabs"), .label(say("Your account", "Ihr Konto"))) {
                for other in Tab.allCases {
                    HTML.element(
                        .a, .href(other.rawValue),
                        .when(other == tab, .fixed("aria-current", "page"))
                    ) { other.name(say) }
                }
            }
            Parts.note(.good, done?.text(say))
            content()
        }
    }
}

/// Routes of the user's own account: they require a sign-in, and changes of sign-in methods require
/// a recent one.
enum AccountRoute {
    typealias Handler =
        @Sendable (Call<RealmContext>, AccountFrame) async throws(Problem) -> Response

    static func show(
        _ path: String, id: String, _ summary: String, _ parameters: [Parameter] = [],
        isSensitive: Bool = false, handler: @escaping Handler
    ) -> Route<RealmContext> {
        Route<RealmContext>(
            .get, PathTemplate(stringLiteral: path), id: id, tag: "Pages", summary: summary,
            right: .nothing, voice: .page,
            parameters: parameters + [
                Parameter(
                    "done", in: .query, .text(0...40), "Change whose success the page reports.")
            ],
            answer: .page, refusals: Place.refusals, traits: .isReturnTarget
        ) { call throws(Problem) in
            let visit = try await PageRequest(call).visit()
            return try await answer(call, visit, path, isSensitive, handler)
        }
    }

    /// `page`: where a user who has to sign in first comes back to.
    static func change(
        _ path: String, id: String, _ summary: String, _ members: [Member] = [],
        _ parameters: [Parameter] = [], from page: AccountFrame.Tab, isSensitive: Bool = true,
        handler: @escaping Handler
    ) -> Route<RealmContext> {
        Route<RealmContext>(
            .post, PathTemplate(stringLiteral: path), id: id, tag: "Pages", summary: summary,
            right: .nothing, voice: .page, parameters: parameters, body: .page(members),
            answer: .page,
            refusals: Page.refusals
        ) { call throws(Problem) in
            let visit = try await submission(call, page)
            return try await answer(call, visit, page.rawValue, isSensitive, handler)
        }
    }

    /// A user who signed out elsewhere meanwhile finds the page again once they are signed in.
    private static func submission(
        _ call: Call<RealmContext>, _ page: AccountFrame.Tab
    ) async throws(Problem) -> PageVisit {
        do throws(Problem) {
            return try await PageRequest(call).submission()
        } catch {
            var problem = error
            if problem.kind == .foreignForm, PageRequest(call).isSentFromHere {
                problem.nextPage = page.rawValue
            }
            throw problem
        }
    }

    static func answer(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ page: String, _ isSensitive: Bool,
        _ handler: Handler
    ) async throws(Problem) -> Response {
        guard let browser = visit.browser else { return .signInFirst(page) }
        if isSensitive, !PageRequest(call).isRecent(browser) { return .signInFirst(page) }
        let done = call.text("done").flatMap(AccountNote.init)
        return try await handler(
            call, AccountFrame(visit: visit, browser: browser, done: done))
    }
}

extension Response {
    static func seeOther(_ tab: AccountFrame.Tab, _ done: AccountNote) -> Response {
        .seeOther("\(tab.rawValue)?done=\(done.rawValue)")
    }
}
