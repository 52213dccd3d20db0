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

    /// What came of a browser session that is over: it ends, and clients of what goes on are told.
    func endSessions(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient? = nil,
        by caller: Commands.Caller
    ) async throws(Problem) {
        let found = try await dependents(of: account, from: line, alsoEnding: asking)
        let told = found.going.map {
            DetachSession(session: $0, of: account, notice: noticeOrder())
        }
        for some in found.ends(noticeOrder) + LeaveSessions.tell(told) {
            try await Commands(call).dispatch(some, as: caller)
        }
    }

    /// The ends of what clients have of a browser session.
    func ends(of account: UUID, from line: UUID) async throws(Problem) -> [LeaveSessions] {
        try await dependents(of: account, from: line, alsoEnding: nil).ends(noticeOrder)
    }

    private func dependents(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient?
    ) async throws(Problem) -> BrowserDependents {
        let place = context.place
        return try await reading { () throws(LogFailure) in
            try await context.queries.dependents(
                of: account, from: line, alsoEnding: asking, in: place.realm,
                at: context.clock.now(),
                endsOffline: place.settings[SettingCatalogue.logoutEndsOffline])
        }
    }

    /// The first of the sessions that its person had with this browser one after the other.
    func line(of browser: SignedInBrowser) async throws(Problem) -> UUID {
        let view = try await context.ask(BrowserSessionView.byID, browser.id)
        return view?.terms.line ?? browser.id
    }
}

/// The sessions that clients have of a browser.
struct BrowserDependents: Sendable {
    let account: UUID
    let line: UUID
    /// Those that end with it: without offline access, and with it.
    fileprivate(set) var online: [UUID] = []
    fileprivate(set) var offline: [UUID] = []
    /// The sessions that go on.
    fileprivate(set) var going: [UUID] = []

    func ends(_ notice: () -> NoticeOrder) -> [LeaveSessions] {
        [(online, false), (offline, true)].flatMap { sessions, isOffline in
            // What goes on has offline access too: no one event ends the others alone.
            LeaveSessions.end(
                sessions.map {
                    EndSession(session: $0, reason: .loggedOut, of: account, notice: notice())
                },
                all: isOffline && !going.isEmpty
                    ? nil : RemoveAccess(of: account, at: .browser(line, isOffline: isOffline)))
        }
    }
}

extension QuestionPort {
    func dependents(
        of account: UUID, from line: UUID, alsoEnding asking: AskingClient? = nil,
        in realm: RealmID, at now: Timestamp, endsOffline: Bool
    ) async throws(LogFailure) -> BrowserDependents {
        var found = BrowserDependents(account: account, line: line)
        for session in try await sessions(
            of: account, in: realm, at: now,
            where: {
                $0.id == asking?.session || $0.terms.browser == line
            })
        {
            if !session.terms.isOffline {
                found.online.append(session.id)
            } else if endsOffline || session.id == asking?.session
                || session.terms.client == asking?.client
            {
                found.offline.append(session.id)
            } else {
                found.going.append(session.id)
            }
        }
        return found
    }
}
