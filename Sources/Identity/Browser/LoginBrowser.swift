internal import EventSourcing
internal import Values

/// The browser in which a person gave a code or a device to a client, with all that has to stand behind it
/// when the client comes for its tokens.
struct LoginBrowser: Sendable {
    private let session: Versioned<BrowserSession>
    /// The first of the browser's sessions, where another one took this one's place.
    private let first: Versioned<BrowserSession>?
    private let line: OpenerLine

    static func read(
        _ browser: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> LoginBrowser {
        let session = try await streams.read(BrowserSession.self, browser)
        var first: Versioned<BrowserSession>?
        if session.state.end == .replaced, let line = session.state.terms?.line {
            first = try await streams.read(BrowserSession.self, line)
        }
        return LoginBrowser(
            session: session, first: first,
            line: try await .read(session.state.terms?.opener, from: streams))
    }

    /// Nil after a log-out, of a later session of the browser too. A new sign-in in the same browser is none.
    func login(of account: Versioned<Account>, at now: Timestamp) -> BrowserTerms? {
        guard let terms = session.state.terms, terms.account == account.stream,
            account.state.keeps(terms), now < terms.expiresAt,
            [session, first].allSatisfy({ [nil, .replaced].contains($0?.state.end) }),
            line.isStanding(at: now)
        else { return nil }
        return terms
    }

    /// What client sessions end with that come of the browser.
    var opener: Opener? {
        var opener = session.state.terms?.opener
        opener?.browser = nil
        return opener
    }
}
