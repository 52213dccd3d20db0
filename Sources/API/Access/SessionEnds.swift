internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// The client that asks for a logout, with the session of its hint: all its sessions from the
/// browser end, those with offline access as well.
struct AskingClient: Sendable {
    let session: UUID
    let client: UUID
}

/// What ends with a browser session: the sessions that clients were given for as long as it lasted.
struct SessionEnds {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// How a client is told of a session's end, if it wants to hear of it.
    func noticeOrder() -> NoticeOrder {
        NoticeOrder(id: context.newID(), issuer: context.place.issuer)
    }

    /// Signs a browser out, and ends what clients were given for as long as it was signed in.
    /// Offline access stays (OpenID Connect Back-Channel Logout section 2.7), except that of the
    /// client that asked for this logout, and where the realm wants it ended. Its client is told as
    /// well: whom it shows as signed in by this browser is so no more.
    func logOut(
        _ browser: SignedInBrowser, as reason: BrowserSessionEnd = .signedOut,
        alsoEnding asking: AskingClient? = nil
    ) async throws(Problem) {
        let line = try await line(of: browser)
        // The clients' sessions first: a user whose logout is cut off half-way is still signed in,
        // and can try again.
        try await endSessions(
            of: browser.subject, from: line, alsoEnding: asking, by: .browser(browser))
        try await Commands(call).dispatch(
            EndBrowserSession(session: browser.id, reason: reason, of: browser.subject),
            as: .browser(browser))
        // A code may have been redeemed meanwhile; from now on none is.
        try await endSessions(
            of: browser.subject, from: line, alsoEnding: asking, by: .browser(browser))
    }

    /// Signs out another browser of the same person, as the person's own would be.
    func logOut(
        _ other: BrowserSessionView, by browser: SignedInBrowser
    ) async throws(Problem) {
        let (account, line) = (browser.subject, other.terms.line ?? other.id)
        try await endSessions(of: account, from: line, by: .browser(browser))
        let ends =
            [EndBrowserSession(session: other.id, reason: .signedOut, of: account)]
            + (try await successors(of: other.id, on: line, of: account))
        for end in ends {
            // One that is gone is signed out.
            _ = try await Commands(call).attempt(end, as: .browser(browser))
        }
        try await endSessions(of: account, from: line, by: .browser(browser))
    }

    /// What took the place of a browser session by now: who ends one that was there a moment ago means the browser.
    func successors(
        of session: UUID, on line: UUID, of account: UUID
    ) async throws(Problem) -> [EndBrowserSession] {
        try await RealmLookups(context).openBrowsers(of: account)
            .filter { $0.id != session && ($0.terms.line ?? $0.id) == line }
            .map { EndBrowserSession(session: $0.id, reason: .revoked, of: account) }
    }

    /// What came of a browser session that is over.
    func endSessions(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient? = nil,
        by caller: Commands.Caller
    ) async throws(Problem) {
        let over = try await ends(of: account, from: line, alsoEnding: asking)
        for some in LeaveSessions.each(over) { try await Commands(call).dispatch(some, as: caller) }
        let place = context.place
        let stay = try await reading { () throws(LogFailure) in
            try await context.queries.sessions(
                of: account, in: place.realm, at: context.clock.now()
            ) { $0.terms.browser == line && $0.terms.isOffline }
        }
        let told = stay.map { DetachSession(session: $0.id, of: account, notice: noticeOrder()) }
        for some in LeaveSessions.each(told) { try await Commands(call).dispatch(some, as: caller) }
    }

    /// The ends of what clients have of a browser session.
    func ends(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient? = nil
    ) async throws(Problem) -> [EndSession] {
        let place = context.place
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.sessions(
                of: account, from: line, alsoEnding: asking, in: place.realm,
                at: context.clock.now(),
                endsOffline: place.settings[SettingCatalogue.logoutEndsOffline])
        }
        return found.map {
            EndSession(
                session: $0, reason: .loggedOut, of: account, notice: noticeOrder())
        }
    }

    /// The first of the sessions that its person had with this browser one after the other.
    func line(of browser: SignedInBrowser) async throws(Problem) -> UUID {
        let view = try await reading { () throws(LogFailure) in
            try await context.queries.browserSession(browser.id, in: context.place.realm)
        }
        return view?.terms.line ?? browser.id
    }
}

extension SessionQueries {
    /// The sessions of clients that end with a browser session.
    func sessions(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient? = nil,
        in realm: RealmID,
        at now: Timestamp, endsOffline: Bool
    ) async throws(LogFailure) -> [UUID] {
        try await sessions(of: account, in: realm, at: now) { session in
            session.id == asking?.session
                || session.terms.browser == line
                    && (!session.terms.isOffline || endsOffline
                        || session.terms.client == asking?.client)
        }.map(\.id)
    }
}
