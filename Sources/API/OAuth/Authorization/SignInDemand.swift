internal import Identity
internal import Values

extension AuthorizationRequest {
    /// A client that requires a certain `acr` gets that one, also where the sign-in was stronger
    /// (OpenID Connect Core section 5.5.1.1).
    func neededLevel(of browser: SignedInBrowser) -> String? {
        guard needsLevel, let level = browser.level, !levels.contains(level) else { return nil }
        return AuthenticationLevel.known(levels).first
    }

    /// The next step, as far as it depends on the user, the time and the strength of the sign-in.
    enum Step: Equatable {
        case login
        case goOn(SignedInBrowser)
        case refuse(AuthorizationFault)
    }

    func names(_ subject: String) -> Bool {
        subjects.contains { $0.utf8.elementsEqual(subject.utf8) }
    }

    func step(
        for browser: SignedInBrowser?, at now: Timestamp, isReturn: Bool,
        name: (UUID) -> String
    ) -> Step {
        guard let browser else { return .login }
        // The user logged in for this very request: a browser session is new with every login.
        let isFresh =
            isReturn && browser.id != askedIn
            && browser.authenticatedAt.seconds >= askedAt.seconds
        if !subjects.isEmpty, !names(name(browser.subject)) {
            return isFresh
                ? .refuse(AuthorizationFault(.loginRequired, "Another user signed in."))
                : .login
        }
        if !isFresh, prompts.contains(.login) || prompts.contains(.selectAccount) {
            return .login
        }
        if !isFresh, let maximumAge {
            let age = now.microseconds - browser.authenticatedAt.microseconds
            if age > maximumAge * 1_000_000 || maximumAge == 0 { return .login }
        }
        guard !levels.isEmpty else { return .goOn(browser) }
        let known = AuthenticationLevel.known(levels)
        if AuthenticationLevel.reaches(browser.level, oneOf: known) { return .goOn(browser) }
        if !isFresh, !known.isEmpty, !prompts.contains(.none) || needsLevel { return .login }
        guard needsLevel else { return .goOn(browser) }
        return .refuse(
            AuthorizationFault(.unmetAuthentication, "No account can sign in at that level here."))
    }
}
