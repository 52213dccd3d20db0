internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The token that an installation shows at the routes of its profile.
extension Call<RealmContext> {
    /// The token of a certified installation, which has full access.
    func everything() async throws(Problem) -> PresentedToken {
        let token = try await installationToken()
        guard token.scope.contains(Installation.scope) else {
            throw Problem.said(.forbidden, "Not authorized")
        }
        return token
    }

    /// The token of an installation with any scope. A token with which it opened an app is not its
    /// own.
    func installationToken() async throws(Problem) -> PresentedToken {
        let token = try await profileToken()
        guard token.session.terms.webApp == nil else {
            throw Problem.said(.forbidden, "Not authorized")
        }
        return token
    }

    /// An installation, or what it opened a web app with.
    func profileToken() async throws(Problem) -> PresentedToken {
        guard let text = try bearer() ?? queryToken() else {
            throw Problem.said(.invalidClient, "No token in request")
        }
        guard let token = try await context.present(text), token.session.terms.method == .flagship
        else { throw refusedToken(text) }
        return token
    }

    private func queryToken() -> String? {
        guard let query = request.query, let pairs = Form.parse(Array(query.utf8)) else {
            return nil
        }
        let tokens = pairs.filter { $0.name == "bearer_token" }
        return tokens.count == 1 ? tokens.first?.value : nil
    }

    /// 400 where others say 401: the apps refresh their token on these very words.
    private func refusedToken(_ text: String) -> Problem {
        let known = context.mint.readAccessToken(text)
        let isExpired = known.map { context.clock.now() >= $0.expiresAt } ?? false
        var problem = Problem.said(
            .invalidRequest, isExpired ? "Expired token" : "Invalid JWT token")
        let more = isExpired ? #", error_description="The access token expired""# : ""
        problem.headers = [("WWW-Authenticate", #"Bearer error="invalid_token"\#(more)"#)]
        return problem
    }
}
