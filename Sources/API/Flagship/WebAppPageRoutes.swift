internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The way into a web app, for a browser whose person is signed in or has a session code.
enum WebAppPageRoutes {
    static let table: [Route<RealmContext>] = [start]
    /// At the app's own place.
    static let placeTable: [Route<RealmContext>] = [index]

    private static let code = Parameter(
        "session_code", in: .query, .text(0...128), "Session code that signs the browser in.")

    /// On the realm's own host: from here on people are signed in wherever the realm lets them be.
    private static let start = Route<RealmContext>(
        .get, "/apps/{slug}/start", id: "startWebApp", tag: "Flagship",
        summary: "Opens a web app.", right: .nothing, voice: .page,
        parameters: [Parameter("slug", in: .path, .text(1...128), "Slug of the web app."), code],
        answer: .page, refusals: Page.refusals + [.forbidden, .noSuchApp], traits: .isReturnTarget
    ) { call throws(Problem) in
        let app = try await call.webApp(try call.required("slug"), .app)
        let visit = try await PageRequest(call).visit()
        let place = "/apps/\(app.card.slug)/start"
        if let text = call.text("session_code"), !text.isEmpty {
            return try await call.signIn(bySessionCode: text, visit, place: place)
        }
        let address = call.webAppAddress(of: app) + "/"
        guard let browser = visit.browser else {
            return app.card.origin == nil
                ? .ownerSignsInFirst(address) : call.ownerSignsInFirst(place)
        }
        try await call.requireOwner(browser)
        // Elsewhere it is for the app to ask who is there.
        if app.card.origin != nil { return .seeOther(address) }
        return try await call.handOver(browser, to: app, at: address)
    }

    private static let index = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: WebAppPlace.indexPath), id: "showWebApp", tag: "Flagship",
        summary: "Shows the first page of a web app.", right: .nothing, voice: .page,
        parameters: [code], answer: .page,
        refusals: Page.refusals + [.forbidden, .noSuchApp]
    ) { call throws(Problem) in
        guard let place = call.context.place.webApp,
            let app = try await RealmLookups(call.context).webApp(place.id)
        else { throw Problem(.noSuchApp) }
        let text = call.text("session_code").flatMap { $0.isEmpty ? nil : $0 }
        // Its pages are elsewhere: this is only the way there.
        if let above = place.above, app.card.origin != nil {
            return .seeOther(start(app, above, code: text))
        }
        let visit = try await PageRequest(call).visit()
        if let text {
            return try await call.signIn(bySessionCode: text, visit, place: call.indexWithoutCode)
        }
        guard let browser = visit.browser else {
            guard let above = place.above else { throw Problem(.forbidden) }
            let own = above.replacing("://", with: "://\(app.card.slug).", maxReplacements: 1)
            return .ownerSignsInFirst(own + call.indexWithoutCode, at: above)
        }
        try await call.requireOwner(browser)
        let say = visit.say
        return visit.page(app.card.name) {
            Page.card {
                HTML.element(.h1) { app.card.name }
                HTML.element(.p) { say("You are signed in.", "Sie sind angemeldet.") }
            }
        }
    }

    /// Of a page that is elsewhere.
    private static func start(_ app: WebAppView, _ above: String, code: String?) -> String {
        let query = code.map { "?" + Form.encode([("session_code", $0)]) } ?? ""
        return "\(above)/apps/\(app.card.slug)/start\(query)"
    }
}

extension Call<RealmContext> {
    /// A browser that is signed in where people sign in, and comes from an app's page.
    func handOver(
        _ browser: SignedInBrowser, toPage target: RealmRedirect
    ) async throws(Problem) -> Response? {
        let (scheme, domain) = site
        let page = target.text
        guard page.utf8.starts(with: "\(scheme)://".utf8) else { return nil }
        let slug = String(
            decoding: page.utf8.dropFirst(scheme.utf8.count + 3).prefix {
                $0 != UInt8(ascii: ".")
            }, as: UTF8.self)
        let found = try await context.ask(WebAppView.bySlug, (slug, .app))
        let address = "\(scheme)://\(slug).\(domain)"
        guard let app = found, app.card.origin == nil,
            ["/", "?"].contains(where: { page.utf8.starts(with: (address + $0).utf8) })
        else { return nil }
        return try await handOver(browser, to: app, at: page)
    }

    /// With a code that is for this app alone.
    fileprivate func handOver(
        _ browser: SignedInBrowser, to app: WebAppView, at page: String
    ) async throws(Problem) -> Response {
        let id = context.newID()
        try await Commands(self).dispatch(
            HandOverSession(
                code: id, browser: browser.id, webApp: app.id, now: context.clock.now()),
            as: .browser(browser))
        let sign = page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return .seeOther(
            page + sign + Form.encode([("session_code", context.mint.sessionCode(id))]))
    }

    /// The same page, with all that was asked but the code.
    fileprivate var indexWithoutCode: String {
        let pairs = request.query.flatMap { Form.parse(Array($0.utf8)) } ?? []
        let rest = pairs.filter { $0.name != "session_code" }
        return rest.isEmpty ? "/" : "/?\(Form.encode(rest))"
    }
}

extension HandOverSession.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notSignedIn: Problem(.forbidden)
        case .noWebApp: Problem(.noSuchApp)
        }
    }
}
