import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let notice = UUID(high: 41, low: 41)
private let order = NoticeOrder(id: notice, issuer: "https://id.example.org")

@Suite struct `Telling clients of a logout` {
    private func given(
        _ metadata: JSONObject, account holder: UUID? = account, issuer: String? = nil
    ) throws -> Scenario {
        var terms = SessionTerms(
            account: holder, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid"], resources: [], factors: [.passkey], openedAt: noon,
            expiresAt: noon.adding(seconds: 86_400), isOffline: false)
        terms.issuer = issuer
        return try givenNativeRealm(metadata: metadata)
            .given(SessionEvent.opened(terms), in: session)
    }

    private func end(_ reason: SessionEnd = .loggedOut, notice: NoticeOrder? = order) -> EndSession
    {
        EndSession(session: session, reason: reason, of: account, notice: notice)
    }

    private let told: JSONObject = ["backchannel_logout_uri": "https://web.example.org/out"]

    @Test func `a logout notice is recorded where the client wants one`() async throws {
        try await given(told).when(end()).then(
            Decision(SessionEvent.ended(.loggedOut, notice: order), in: session, of: account))
        try await given([:]).when(end()).then(
            Decision(SessionEvent.ended(.loggedOut), in: session, of: account))
        try await given(told).when(end(notice: nil)).then(
            Decision(SessionEvent.ended(.loggedOut), in: session, of: account))
        try await given(told).given(ClientEvent.deleted, in: client).when(end()).then(
            Decision(SessionEvent.ended(.loggedOut), in: session, of: account))
        try await given(told).given(SessionEvent.ended(.reuse), in: session).when(end())
            .thenNothing()
        try await given(told, account: app).when(end()).thenRejected(.notFound)
    }

    @Test func `a logout notice is recorded once for a session that outlives its browser`()
        async throws
    {
        let detach = DetachSession(session: session, of: account, notice: order)
        try await given(told).when(detach).then(
            Decision(SessionEvent.detached(order), in: session, of: account))
        try await given(told).given(SessionEvent.detached(order), in: session).when(detach)
            .thenNothing()
        // And its end is told later, as that of any other.
        try await given(told).given(SessionEvent.detached(order), in: session).when(end()).then(
            Decision(SessionEvent.ended(.loggedOut, notice: order), in: session, of: account))
        try await given([:]).when(detach).thenNothing()
        try await given(told).given(ClientEvent.deleted, in: client).when(detach).thenNothing()
        try await given(told).given(SessionEvent.ended(.revoked), in: session).when(detach)
            .thenNothing()
        try await given(told, account: app).when(detach).thenRejected(.notFound)
    }

    @Test func `a logout notice follows events that end sessions implicitly`() async throws {
        let lapse = EndLapsedSession(
            session: session, notice: NoticeOrder(id: notice), now: noon)
        let ann = try given(told, issuer: "https://id.example.org")
            .given(registeredAccount(), in: account)
        try await ann.when(lapse).thenNothing()
        let ended = Decision(
            SessionEvent.ended(.lapsed, notice: NoticeOrder(id: notice)), in: session, of: account)
        for event in [
            AccountEvent.disabled(), .stampRotated(), .deletionScheduled(due: noon),
            .deleted(subjects: []), .accessRemoved(.client(client), number: 1),
        ] { try await ann.given(event, in: account).when(lapse).then(ended) }
        // Nobody knows under which name.
        try await given(told).given(registeredAccount(), in: account)
            .given(AccountEvent.disabled(), in: account).when(lapse)
            .then(Decision(SessionEvent.ended(.lapsed), in: session, of: account))
        try await ann.given(AccountEvent.disabled(), in: account)
            .given(SessionEvent.ended(.reuse), in: session).when(lapse).thenNothing()
        try await given(told, account: nil).when(lapse).thenRejected(.notFound)
    }

    @Test func `a logout notice follows the end of what a session was opened by`() async throws {
        let (phone, above, first) = (
            UUID(high: 84, low: 1), UUID(high: 84, low: 2), UUID(high: 84, low: 3)
        )
        func opened(_ client: UUID, by opener: Opener?) -> SessionEvent {
            var terms = SessionTerms(
                account: account, stamp: 0, client: client, clientID: "web", app: nil, scope: [],
                resources: [], factors: [.passphrase], openedAt: noon,
                expiresAt: noon.adding(seconds: 86_400), isOffline: true)
            terms.opener = opener
            terms.issuer = "https://id.example.org"
            return .opened(terms)
        }
        let world = try givenNativeRealm(metadata: told)
            .given(registered(nativeMetadata, secret: nil), in: phone)
            .given(registeredAccount(), in: account)
            .given(opened(phone, by: nil), in: first)
            .given(opened(phone, by: Opener(installation: phone, session: first)), in: above)
            .given(opened(client, by: Opener(installation: phone, session: above)), in: session)
        func lapse(at now: Timestamp = noon) -> EndLapsedSession {
            EndLapsedSession(session: session, notice: NoticeOrder(id: notice), now: now)
        }
        let ended = Decision(
            SessionEvent.ended(.lapsed, notice: NoticeOrder(id: notice)), in: session, of: account)
        try await world.when(lapse()).thenNothing()
        try await world.given(ClientEvent.deleted, in: phone).when(lapse()).then(ended)
        // Far up as well.
        for stream in [above, first] {
            try await world.given(SessionEvent.ended(.administrator), in: stream).when(lapse())
                .then(ended)
        }
        try await world.given(AccountEvent.accessRemoved(.client(phone), number: 1), in: account)
            .when(lapse()).then(ended)
        try await world.given(AccountEvent.accessRemoved(.client(first), number: 1), in: account)
            .when(lapse()).thenNothing()
    }

    private func record(_ outcome: LogoutNoticeChange.Outcome)
        -> LogoutNoticeChange.Change<LogoutNoticeChange.RecordRejection>
    {
        LogoutNoticeChange.record(notice, outcome: outcome, now: noon)
    }

    @Test func `a logout notice is tried for some hours, and no more once delivered`() async throws
    {
        var story = LogTesting.given()
        try await story.when(record(.taken))
            .then(LogoutNoticeEvent.delivered(attempt: 1), in: notice)
        try await story.when(record(.pointless))
            .then(LogoutNoticeEvent.failed(attempt: 1, code: 0), in: notice)
        let pauses: [Int64] = [2, 10, 60, 300, 1_800, 7_200]
        for (index, pause) in pauses.enumerated() {
            let event = LogoutNoticeEvent.deferred(
                attempt: index + 1, until: noon.adding(seconds: pause), code: 503)
            try await story.when(record(.refused(code: 503))).then(event, in: notice)
            story = story.given(event, in: notice)
        }
        let last = LogoutNoticeEvent.failed(attempt: 7, code: 503)
        try await story.when(record(.refused(code: 503))).then(last, in: notice)
        try await story.given(last, in: notice).when(record(.taken))
            .thenRejected(.alreadySettled)
        try await story.given(LogoutNoticeEvent.delivered(attempt: 7), in: notice)
            .when(record(.refused(code: 500))).thenRejected(.alreadySettled)
    }
}
