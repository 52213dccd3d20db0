internal import HTTP
internal import Identity
internal import Values

/// What an application asks for, as far as people are told.
struct ApplicationRequest: Sendable, Equatable {
    var clientName: String
    var site: String?
    /// Where it leads the user to, if its identity is only its own claim: its host, or its scheme.
    var leadsTo: String?
    var policy: String?
    var terms: String?
    var hasLogo = false
    /// What it asks for now, and what its person agreed to before.
    var asks: Agreement
    var remembered = Agreement()
    /// The `login_hint` of the request.
    var hint: String?
    /// The user who is signed in with the browser is enough for it, without a new sign-in.
    var needsNoSignIn = false
    /// The signed-in user has to choose an account, or is not the one that it expects.
    var asksForAnother = false
    /// It asks for a stronger sign-in than the browser has.
    var needsMore = false
    /// What its person has shown counts on, so that one more factor is enough.
    var mayStepUp = false
}

/// What is known of an application's request by what was sealed alone.
struct PendingRequest: Sendable {
    /// The client's stream and its name.
    var client: UUID
    var clientID: String
    /// The languages that the user is said to like.
    var languages: String?
}

/// The application's requests that pages stand in the middle of. Only the implementation that
/// sealed them reads them.
protocol ApplicationRequests: Sendable {
    /// Nil where there is no request like that, or no longer.
    func request(
        _ sealed: String, for browser: SignedInBrowser?, _ call: Call<RealmContext>
    ) async throws(Problem) -> ApplicationRequest?

    /// Nil for a request that was not sealed here, or has expired.
    func pending(_ sealed: String, in context: RealmContext) -> PendingRequest?

    /// What the user decided: returns where to send them now. The page has checked that it was this
    /// user.
    func decide(
        _ sealed: String, allows: Bool, as browser: SignedInBrowser, _ call: Call<RealmContext>
    ) async throws(Problem) -> Response
}

/// Where no surface seals any.
struct NoApplicationRequests: ApplicationRequests {
    func pending(_ sealed: String, in context: RealmContext) -> PendingRequest? { nil }

    func request(
        _ sealed: String, for browser: SignedInBrowser?, _ call: Call<RealmContext>
    ) async throws(Problem) -> ApplicationRequest? { nil }

    func decide(
        _ sealed: String, allows: Bool, as browser: SignedInBrowser, _ call: Call<RealmContext>
    ) async throws(Problem) -> Response { throw Problem(.noSuchRoute) }
}
