internal import Cryptography
internal import EventSourcing
internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The browsers that an owner is signed in with.
enum OwnerSessionRoutes {
    static let table: [Route<RealmContext>] = [list, current, endOthers, check, mayEndOthers]
    static let pageTable: [Route<RealmContext>] = [ask, confirm, end, mayEnd]

    private static let refusals: [ProblemKind] =
        Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    private static let done = Answer.done(
        "The request was accepted: a passphrase is right, or the sessions are ended.")

    private static let list = Route<RealmContext>(
        .get, "/settings/sessions", id: "listOwnerSessions", tag: "Flagship",
        summary: "Lists the browsers that the owner is signed in with.", right: .nothing,
        voice: .flagship, answer: .ok("In JSON:API.", .openObject, example: ["data": []]),
        refusals: refusals
    ) { call throws(Problem) in
        _ = try await call.everything()
        var data: [JSON] = []
        for view in try await call.ownersBrowsers() { data.append(document(view)) }
        return .jsonAPI(
            .ok, ["data": .array(data), "meta": ["count": .integer(Int64(data.count))]])
    }

    private static let current = Route<RealmContext>(
        .get, "/settings/sessions/current", id: "getOwnerSession", tag: "Flagship",
        summary: "Shows the session of this browser.", right: .nothing, voice: .flagship,
        answer: .ok("In JSON:API.", .openObject, example: ["data": [:]]), refusals: refusals
    ) { call throws(Problem) in
        guard let browser = try await BrowserSessions(call).current(),
            let view = try await call.context.ask(BrowserSessionView.byID, browser.id)
        else { throw Problem.said(.invalidClient, "Not authorized") }
        return .jsonAPI(.ok, ["data": document(view)])
    }

    private static func document(_ view: BrowserSessionView) -> JSON {
        var attributes: JSONObject = [
            // That it is there is all that a look at it shows.
            "last_seen": .string(view.terms.openedAt.description),
            "long_run": .bool(view.terms.isLong),
            "method": .string(view.terms.method.rawValue),
        ]
        attributes["device"] = view.terms.from.device.map { .string($0) }
        return [
            "type": "io.cozy.sessions", "id": .string(view.id.description),
            "attributes": .object(attributes), "links": ["self": "/settings/sessions"],
        ]
    }

    private static let end = Route<RealmContext>(
        .delete, "/auth/login", id: "endOwnerSession", tag: "Flagship",
        summary: "Signs this browser out.",
        detail: """
            For scripts of this very site, and for those of the owner's web apps that show their token. \
            A page of another one cannot send it.
            """,
        right: .nothing, voice: .page, answer: done, refusals: refusals
    ) { call throws(Problem) in
        let (browser, origin) = try await call.ownPageBrowser()
        try await SessionEnds(call).logOut(browser)
        var response = Response(status: .noContent)
        response.headers.append("Set-Cookie", PageCookie.session.removal)
        if let origin { AppOrigins.mayRead(&response, origin) }
        return response
    }

    private static let mayEnd = AppOrigins.question(
        "/auth/login", id: "mayEndOwnerSession", "DELETE, GET, HEAD, OPTIONS, POST",
        voice: .page, refusals: Page.refusals)

    private static let mayEndOthers = AppOrigins.question(
        "/auth/login/others", id: "mayEndOtherOwnerSessions", "DELETE, OPTIONS",
        voice: .flagship, refusals: Place.refusals)

    private static let endOthers = Route<RealmContext>(
        .delete, "/auth/login/others", id: "endOtherOwnerSessions", tag: "Flagship",
        summary: "Signs every browser out but this one.", right: .nothing, voice: .flagship,
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        let (browser, origin) = try await call.ownPageBrowser()
        for view in try await call.ownersBrowsers() where view.id != browser.id {
            try await SessionEnds(call).logOut(view, by: browser)
        }
        var response = Response(status: .noContent)
        if let origin { AppOrigins.mayRead(&response, origin) }
        return response
    }

    private static let state = Parameter(
        "state", in: .query, .text(0...256), "Value that is returned in the redirect.")

    private static let ask = Route<RealmContext>(
        .get, "/auth/confirm", id: "showOwnerConfirmation", tag: "Flagship",
        summary: "Shows the form that asks a signed-in owner for the passphrase again.",
        right: .nothing,
        voice: .page,
        parameters: [
            state, Parameter("redirect", in: .query, .text(0...8192), "Page to return to."),
        ], answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).visit()
        let target = RealmRedirect(call.text("redirect"), call.context.place)
        guard visit.browser != nil else {
            return .seeOther("/auth/login?" + Form.encode([("redirect", target.text)]))
        }
        return try await page(call, visit, target, call.text("state") ?? "", wrong: nil)
    }

    private static let confirm = Route<RealmContext>(
        .post, "/auth/confirm", id: "confirmOwner", tag: "Flagship",
        summary: "Checks the passphrase of a signed-in owner.",
        detail: "It leads on with a code that is good for five minutes, for this browser.",
        right: .nothing, voice: .page,
        body: .page(
            OwnerLinkRoutes.passphrase + [
                .optional("redirect", .text(0...8192), "Page to return to."),
                .optional("state", .text(0...256), "Value that is returned in the redirect."),
            ]), answer: .page, refusals: refusals
    ) { call throws(Problem) in
        let visit = try await PageRequest(call).submission()
        let target = RealmRedirect(call.body["redirect"]?.string, call.context.place)
        let state = call.body["state"]?.string ?? ""
        let (owner, passphrase) = try await call.owner()
        guard let browser = visit.browser, browser.subject == owner.account else {
            return .seeOther("/auth/login?" + Form.encode([("redirect", target.text)]))
        }
        let hash = try await call.deviceHash(
            call.body.object ?? [:], rounds: passphrase.derived?.rounds ?? 0)
        let outcome = try await call.signInOwner(
            ["passphrase": .string(hash ?? "")], for: call.ownerRequest(.nobody))
        guard outcome == .done else {
            let said = visit.say(
                "Wrong passphrase.", "Die Passphrase ist falsch.")
            if call.wantsJSON { return .json(.unauthorized, ["error": .string(said)]) }
            return try await page(call, visit, target, state, wrong: said)
        }
        let code = call.context.mint.confirmation(call.context.newID(), of: browser.id)
        let pairs = Form.encode([("code", code), ("state", state)])
        let place = target.text + (target.text.utf8.contains(0x3F) ? "&" : "?") + pairs
        return call.wantsJSON ? .json(.ok, ["redirect": .string(place)]) : .seeOther(place)
    }

    private static func page(
        _ call: Call<RealmContext>, _ visit: PageVisit, _ redirect: RealmRedirect, _ state: String,
        wrong: String?
    ) async throws(Problem) -> Response {
        let say = visit.say
        let form = OwnerPassphraseForm(
            visit: visit, rounds: try await call.owner().passphrase.derived?.rounds ?? 0,
            host: call.context.place.host, action: "/auth/confirm",
            button: say("Confirm", "Bestätigen"), wrong: wrong)
        return visit.page(
            say("Is it you?", "Sind Sie es?"), status: wrong == nil ? .ok : .unauthorized,
            script: OwnerScript.path, leadsAway: true
        ) {
            Page.card {
                HTML.element(.h1) { say("Confirm it is you", "Bestätigen Sie, dass Sie es sind") }
                form.html {
                    Parts.hidden("redirect", redirect.text)
                    Parts.hidden("state", state)
                }
            }
        }
    }

    private static let check = Route<RealmContext>(
        .get, "/auth/confirm/{code}", id: "checkOwnerConfirmation", tag: "Flagship",
        summary: "Checks whether this browser was given the owner's passphrase a moment ago.",
        right: .nothing, voice: .flagship,
        parameters: [
            Parameter("code", in: .path, .text(1...128), "Code from the redirect.", example: "x")
        ],
        answer: done, refusals: refusals
    ) { call throws(Problem) in
        guard let browser = try await BrowserSessions(call).current(),
            let at = call.context.mint.readConfirmation(
                call.text("code") ?? "", of: browser.id),
            call.context.clock.now() < at.adding(seconds: 300)
        else { throw Problem.said(.invalidClient, "Not authorized") }
        return Response(status: .noContent)
    }
}

extension TokenMint {
    /// Confirms that the passphrase was typed in this browser: which confirmation, in which
    /// browser.
    func confirmation(_ id: UUID, of browser: UUID) -> String {
        Base64URL.encode(id.bytes + confirmationTag(id, browser))
    }

    func readConfirmation(_ text: String, of browser: UUID) -> Timestamp? {
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text), bytes.count == 32,
            let id = UUID(bytes: Array(bytes.prefix(16))),
            version(where: {
                constantTimeEqual(Array(bytes.dropFirst(16)), $0.confirmationTag(id, browser))
            }) != nil
        else { return nil }
        return id.timestamp
    }

    private func confirmationTag(_ id: UUID, _ browser: UUID) -> [UInt8] {
        Array(derive(.ownerConfirmation, id.bytes + browser.bytes).prefix(16))
    }
}

extension Call<RealmContext> {
    fileprivate func ownersBrowsers() async throws(Problem) -> [BrowserSessionView] {
        guard let account = try await RealmLookups(context).folded(Owner.self, Owner.stream).account
        else { return [] }
        return try await RealmLookups(context).openBrowsers(of: account)
    }

    /// The browser of the owner, where a page of this very site asks, or a web app of theirs; then
    /// its origin.
    fileprivate func ownPageBrowser() async throws(Problem) -> (SignedInBrowser, origin: String?) {
        let refused = Problem.said(.invalidClient, "Not authorized")
        var origin: String?
        if !request.isSent(fromPagesOf: context.place.host) {
            origin = try await knownAppOrigin()
            guard origin != nil else { throw refused }
        }
        guard let browser = try await BrowserSessions(self).current(),
            try await RealmLookups(context).folded(Owner.self, Owner.stream).account
                == browser.subject
        else { throw refused }
        return (browser, origin)
    }
}
