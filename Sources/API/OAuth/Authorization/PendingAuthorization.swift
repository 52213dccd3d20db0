internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What a page shows of the authorization request in progress.
struct PendingAuthorization: Equatable {
    let clientID: String
    /// The name that people see; the client's own id where it has none.
    let clientName: String
    let logoURI: String?
    let clientURI: String?
    let policyURI: String?
    let termsURI: String?
    /// Where the client leads people to, if its identity is unverified.
    let leadsTo: String?
    /// What the client asks for now.
    let asks: Agreement
    /// What the user agreed to before, if a user is signed in.
    let remembered: Agreement
    /// The `login_hint` of the request.
    let loginHint: String?
    /// How strong the sign-in should be, in the words of `acr`; nil: as it likes.
    let level: String?
    /// No user is signed in, or they have to sign in once more, for all that was done since the
    /// request.
    let needsSignIn: Bool
    /// The user has to choose an account, or authenticate anew, although they are signed in.
    let choosesAccount: Bool
    /// The request expects another user than the one who is signed in.
    let expectsAnother: Bool
    let repeatsLogin: Bool
    let languages: String?
}

extension RealmContext {
    /// Seconds that the user has for the pages in between.
    private static var patience: Int64 { 3600 }

    func sealed(_ asked: AuthorizationRequest) -> String? {
        mint.seal(asked.json, for: .authorizationRequest)
    }

    /// Nil for a request that was not sealed here, or has expired.
    func authorizationRequest(_ sealed: String) -> AuthorizationRequest? {
        guard let json = mint.unseal(sealed, for: .authorizationRequest),
            let asked = AuthorizationRequest(json),
            clock.now() < asked.askedAt.adding(seconds: Self.patience)
        else { return nil }
        return asked
    }
}

/// What the pages in between ask for and tell.
extension Call<RealmContext> {
    /// Nil where the page's `continue` is not good, or not any more.
    func pendingAuthorization(
        _ sealed: String, for browser: SignedInBrowser?
    ) async throws(Problem) -> PendingAuthorization? {
        guard let asked = context.authorizationRequest(sealed) else { return nil }
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.recent(asked.clientID, in: context.place.realm)
        }
        guard let known, known.id == asked.client else { return nil }
        let place = asked.shownPlace(of: known.metadata)
        var remembered: Agreement?
        if let browser {
            let id = context.mint.consent(of: browser.subject, to: known.id)
            remembered =
                try await context.ask(ConsentView.byID, id)?.given.agreed(leadingTo: place)
        }
        let subject = { account in
            self.context.mint.subject(account, in: known.metadata.sector)
        }
        let step = asked.step(
            for: browser, at: context.clock.now(), isReturn: false, name: subject)
        let own = browser.map { subject($0.subject) }
        let levels = AuthenticationLevel.known(asked.levels)
        return PendingAuthorization(
            clientID: asked.clientID, clientName: known.metadata.clientName ?? asked.clientID,
            logoURI: known.metadata.logoURI, clientURI: known.metadata.clientURI,
            policyURI: known.metadata.policyURI, termsURI: known.metadata.tosURI,
            leadsTo: place, asks: asked.toAgree, remembered: remembered ?? Agreement(),
            loginHint: asked.loginHint,
            level: levels.contains(AuthenticationLevel.single) ? nil : levels.first,
            needsSignIn: step == .login,
            choosesAccount: asked.prompts.contains(.selectAccount),
            expectsAnother: !asked.subjects.isEmpty
                && !asked.subjects.contains { $0 == own },
            repeatsLogin: asked.prompts.contains(.login) || asked.maximumAge != nil,
            languages: asked.languages)
    }

    /// Where to send the user after their decision on the consent page. The page has checked that
    /// it was they who pressed the button.
    func decideConsent(
        _ sealed: String, allows: Bool, as browser: SignedInBrowser
    ) async throws(Problem) -> Response {
        guard var asked = context.authorizationRequest(sealed) else {
            throw Problem(
                .invalidRequest, "This page was open for too long: please start again.")
        }
        guard allows else { return try await denied(asked) }
        let command = GiveConsent(
            consent: context.mint.consent(of: browser.subject, to: asked.client),
            account: browser.subject, client: asked.client, agreed: asked.toAgree,
            place: asked.target.place, now: context.clock.now())
        try await Commands(self).dispatch(
            command, as: .user(browser.subject, client: asked.clientID))
        asked.agreedIn = browser.id
        guard let agreed = context.sealed(asked) else { throw Problem(.internalError) }
        var response = Response(status: .seeOther, headers: Headers(), body: [])
        response.headers["Location"] = "\(AuthorizeRoutes.path)?continue=\(agreed)"
        return response
    }
}

extension Call<RealmContext> {
    private func denied(_ asked: AuthorizationRequest) async throws(Problem) -> Response {
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.recent(asked.clientID, in: context.place.realm)
        }
        let fault = AuthorizationFault(.accessDenied, "The person did not agree.")
        let look = PageLook(context.place, request)
        // Who refuses an unchecked client has not agreed to go there either.
        guard let known, try await mayLead(known, to: asked.target.place) else {
            return asked.target.heldRefusal(fault, issuer: context.place.issuer, in: look)
        }
        return asked.target.refusal(fault, issuer: context.place.issuer, in: look)
    }
}

extension GiveConsent.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .clientNotFound: Problem(.invalidRequest, "There is no such client.")
        case .accountBlocked: Problem(.forbidden)
        }
    }
}
