internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Session codes, which open a web view as a signed-in user.
enum SessionCodeRoutes {
    static let table: [Route<RealmContext>] = [issue]

    private static let issue = Route<RealmContext>(
        .post, "/auth/session_code", id: "issueSessionCode", tag: "Flagship",
        summary: "Issues a single-use code that signs a web view in.",
        detail: """
            For who shows a token of scope `*`, or the owner's passphrase as the device has hashed \
            it, in JSON: `passphrase`, and `two_factor_token` with `two_factor_passcode`.
            """,
        right: .nothing, voice: .flagship,
        answer: Answer(
            status: .created, description: "The code.",
            content: .json(
                .object(
                    .required("session_code", .text(32...32), "Session code for one web view.")),
                example: ["session_code": "AZOg514MgACQAC9rHB2aEMKl1PNoSu3x"])),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    ) { call throws(Problem) in
        if let members = call.shownPassphrase {
            return try await call.sessionCode(byPassphrase: members)
        }
        let refused = Problem.said(.invalidClient, "Not authorized")
        guard try call.bearer() != nil else { throw refused }
        let token = try await call.installationToken()
        guard token.scope.contains(Installation.scope) else { throw refused }
        let code = call.context.newID()
        let refusal = try await Commands(call).attempt(
            IssueSessionCode(
                code: code, session: token.session.id, now: call.context.clock.now()),
            as: .installation(token.session.terms.client))
        if refusal != nil { throw refused }
        return .json(
            .created, ["session_code": .string(call.context.mint.sessionCode(code))])
    }
}

extension Call<RealmContext> {
    fileprivate var shownPassphrase: JSON? {
        guard request.body.count <= 16 * 1024,
            let members = try? JSON.parse(request.body, limits: .ofRequests),
            members["passphrase"]?.string != nil
        else { return nil }
        return members
    }

    fileprivate func sessionCode(byPassphrase members: JSON) async throws(Problem) -> Response {
        var outcome = try await signInOwner(members, for: ownerRequest(.webView))
        // A user who typed a wrong code gets another one here.
        if outcome == .refused(.wrongMailedCode) {
            try RateCounter(self).countRealm(.ownerMail)
            outcome = try await signInOwner(members, for: ownerRequest(.webView), asksAnew: true)
        }
        switch outcome {
        case .sessionCode(let code):
            return .json(.created, ["session_code": .string(context.mint.sessionCode(code))])
        case .mailedCodeNeeded(let id):
            return .json(
                .forbidden,
                [
                    "error": "two factor needed",
                    "two_factor_token": .string(context.mint.mailedCodeToken(id)),
                ])
        case .refused, .tokens, .done:
            throw Problem.said(.invalidClient, "Not authorized")
        }
    }
}

extension Call<RealmContext> {
    /// Redirects to the same page without the code, also if the code is rejected.
    func signIn(
        bySessionCode text: String, _ visit: PageVisit, most: Int64? = nil, place: String
    ) async throws(Problem) -> Response {
        // An invalid code must not keep the user from signing in.
        guard let code = context.mint.readSessionCode(text) else { return .seeOther(place) }
        try RateCounter(self).count(.ownerSignIn, heldBy: "code \(code)")
        let end = try await BrowserSignIns(self).signIn(
            SessionCodeProof(code: code), by: .sessionCode, visit, to: ReturnTarget(), most: most,
            place: place)
        switch end {
        case .signedIn(let response): return response
        case .refused: return .seeOther(place)
        }
    }
}
