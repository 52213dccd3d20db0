internal import HTML
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// The pages on which an owner lets an installation in.
enum InstallationAuthorizeRoutes {
    static let table: [Route<RealmContext>] = [show, decide, certify]

    static let path = "/auth/authorize"

    private static let refusals: [ProblemKind] =
        Page.refusals + [.invalidRequest, .forbidden]

    private static let show = Route<RealmContext>(
        .get, PathTemplate(stringLiteral: path), id: "authorizeInstallation", tag: "Flagship",
        summary: "Shows the owner what an app asks for.", right: .nothing,
        voice: .page,
        parameters: (InstallationAuthorization.names + ["session_code"]).map {
            Parameter(
                $0, in: .query, .text(0...InstallationAuthorization.longest),
                "Parameter of the OAuth authorization request.")
        }, answer: .page, refusals: refusals, traits: .isReturnTarget
    ) { call throws(Problem) in
        let asked = try await call.installationAuthorization { call.text($0) }
        let visit = try await PageRequest(call).visit()
        if let text = call.text("session_code"), !text.isEmpty {
            return try await call.signIn(
                bySessionCode: text, visit, most: 300, place: asked.place)
        }
        guard let browser = visit.browser else {
            return call.ownerSignsInFirst(asked.place)
        }
        try await call.requireOwner(browser)
        if !asked.client.isAdopted, try await call.isFull() {
            return try await call.deviceLimitPage(visit, next: asked.place)
        }
        if asked.asksEverything, asked.client.certification == nil {
            let token = try await call.requestCertification(of: asked.id)
            return CertificationPage(visit: visit, asked: asked, token: token).response()
        }
        // The client was there when the owner took the realm over: they have consented already.
        if asked.client.wasAtOnboarding,
            let code = try await call.authorizationCode(asked, browser)
        {
            return .found(asked.answer(code: code))
        }
        return InstallationConsentPage(visit: visit, asked: asked).response()
    }

    private static let decide = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "decideInstallation", tag: "Flagship",
        summary: "Records the decision.", right: .nothing, voice: .page,
        body: .page(
            InstallationAuthorization.names.map {
                .optional(
                    $0, .text(0...InstallationAuthorization.longest),
                    "Parameter of the OAuth authorization request.")
            } + [.optional("decision", .text(0...20), "Decision of the owner.")]),
        answer: .page, refusals: refusals
    ) { call throws(Problem) in
        // A user whose session has expired in the meantime is told that, not that the CSRF token is
        // wrong.
        if PageRequest(call).csrfToken != nil, try await BrowserSessions(call).current() == nil {
            return notSignedIn(try await PageRequest(call).visit())
        }
        let visit = try await PageRequest(call).submission()
        let asked = try await call.installationAuthorization { call.body[$0]?.string }
        guard let browser = visit.browser else { return notSignedIn(visit) }
        try await call.requireOwner(browser)
        guard !asked.asksEverything || asked.client.certification != nil else {
            return .seeOther(asked.place)
        }
        // Clients of this profile send the form back as it is: that says yes.
        let isDenied = call.body["decision"]?.string.map { $0 != "allow" } ?? false
        var link = asked.refusal
        if !isDenied {
            guard let code = try await call.authorizationCode(asked, browser) else {
                return .seeOther(asked.place)
            }
            link = asked.answer(code: code)
        }
        return call.wantsJSON ? .json(.ok, ["deeplink": .string(link)]) : .found(link)
    }

    private static func notSignedIn(_ visit: PageVisit) -> Response {
        visit.notice(
            visit.say("Sign in first", "Zuerst anmelden"),
            visit.say(
                "You are no longer signed in here.", "Sie sind hier nicht mehr angemeldet."),
            .unauthorized, link: (visit.say("Sign in", "Anmelden"), "/auth/login"))
    }

    private static let certify = Route<RealmContext>(
        .post, "/auth/clients/{client_id}/flagship", id: "certifyInstallation",
        tag: "Flagship", summary: "Checks the code that was mailed for an app.", right: .nothing,
        voice: .flagship, parameters: [InstallationRoutes.clientID],
        body: .form(
            .object(
                .optional("code", .text(0...64), "Digits of the code."),
                .optional("token", .text(0...64), "Token that names the code."),
                .optional("next", .text(0...4096), "Page to which the browser returns."),
                .optional("form", .text(0...200), "CSRF token of the form.")),
            example: ["code": "123456", "token": "…"]),
        answer: .done("The code is accepted."),
        refusals: refusals + [.invalidClient, .noSuchClient]
    ) { call throws(Problem) in
        guard let (id, _) = try await call.installation(call.text("client_id")) else {
            throw Problem.said(.noSuchClient, "Client not found")
        }
        let token = call.body["token"]?.string ?? ""
        let isCertified: Bool
        do throws(Problem) {
            isCertified = try await call.certify(
                id, token: token, digits: trimmed(call.body["code"]?.string ?? ""))
        } catch {
            // The apps get the rate limit as the error of a wrong code.
            guard error.kind == .rateLimited else { throw error }
            isCertified = false
        }
        guard let next = call.body["next"]?.string.flatMap({ ReturnPath($0) }),
            next.text.utf8.starts(with: "\(path)?".utf8)
        else {
            guard isCertified else {
                throw Problem.said(
                    .invalidClient,
                    call.language == .german ? "ungültiger Code" : "invalid code")
            }
            return Response(status: .noContent)
        }
        if isCertified { return .seeOther(next.text) }
        return try await call.askAgain(next, token)
    }
}

extension Call<RealmContext> {
    func requireOwner(_ browser: SignedInBrowser) async throws(Problem) {
        guard
            try await RealmLookups(context).folded(Owner.self, Owner.stream).account
                == browser.subject
        else {
            throw Problem(.forbidden)
        }
    }

    fileprivate func askAgain(_ next: ReturnPath, _ token: String) async throws(Problem) -> Response
    {
        let query = next.text.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        let pairs = Form.parse(Array(query)) ?? []
        let asked = try await installationAuthorization { name in
            pairs.first { $0.name == name }?.value
        }
        return CertificationPage(
            visit: try await PageRequest(self).visit(), asked: asked, token: token, isWrong: true
        ).response(.unauthorized)
    }
}

extension Response {
    /// The redirect in the form that the apps know.
    static func found(_ place: String) -> Response {
        var response = Response(status: .found, headers: Headers(), body: [])
        response.headers["Location"] = place
        return response
    }
}
