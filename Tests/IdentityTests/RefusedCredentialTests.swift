import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `An admin key that is refused` {
    private let now = Timestamp(seconds: 1_795_225_283)

    private func given(
        _ count: Int, _ reason: AdminRefusalReason, in stream: UUID
    ) -> Scenario {
        (0..<count).reduce(LogTesting.given()) { scenario, _ in
            scenario.given(AdminRefusalEvent.refused(key: key, reason: reason), in: stream)
        }
    }

    @Test(arguments: AdminRefusalReason.allCases)
    func `a refused admin key is recorded a bounded number of times an hour`(
        reason: AdminRefusalReason
    ) async throws {
        let isKnown = reason != .unknown
        let stream = AdminRefusals.stream(of: key, isKnown: isKnown, at: now)
        let command = RecordRefusedKey(key: key, reason: reason, now: now)
        let most = AdminRefusals.most(isKnown: isKnown)
        try await LogTesting.given().when(command).then(
            AdminRefusalEvent.refused(key: key, reason: reason), in: stream)
        try await given(most - 1, reason, in: stream).when(command).then(
            AdminRefusalEvent.refused(key: key, reason: reason), in: stream)
        try await given(most, reason, in: stream).when(command).thenRejected(.enough)
        var later = command
        later.now = now.adding(seconds: 3600)
        try await given(most, reason, in: stream).when(later).then(
            AdminRefusalEvent.refused(key: key, reason: reason),
            in: AdminRefusals.stream(of: key, isKnown: isKnown, at: later.now))
    }

    @Test func `a refused admin key is recorded also among many made-up ones`() {
        let other = UUID(high: 9, low: 9)
        #expect(
            AdminRefusals.stream(of: key, isKnown: false, at: now)
                == AdminRefusals.stream(of: other, isKnown: false, at: now))
        #expect(
            AdminRefusals.stream(of: key, isKnown: true, at: now)
                != AdminRefusals.stream(of: other, isKnown: true, at: now))
    }
}

@Suite struct `A refresh token that is refused` {
    private let now = Timestamp(seconds: 1_795_225_283)
    private let session = UUID(high: 7, low: 7)
    private let account = UUID(high: 6, low: 6)

    private func opened(stamp: SecurityStamp = 0) -> SessionEvent {
        .opened(
            SessionTerms(
                account: account, stamp: stamp, client: client, clientID: "phone", app: app,
                scope: ["openid"], resources: [], factors: [.mailedCode],
                openedAt: now.adding(seconds: -60),
                expiresAt: now.adding(seconds: 60), isOffline: true))
    }

    private func command(of other: UUID = client, after seconds: Int64 = 0) -> RecordRefusedRefresh
    {
        RecordRefusedRefresh(
            session: session, client: other, clientID: "phone",
            from: SignInPlace(source: "s", device: "iPhone"), now: now.adding(seconds: seconds))
    }

    private func refused(_ reason: String, by other: UUID = client) -> SessionEvent {
        .refused(
            RefusedSignIn(
                method: .refreshToken, reason: reason, account: account, client: other,
                clientID: "phone", app: app, from: SignInPlace(source: "s", device: "iPhone")))
    }

    private func given(_ events: SessionEvent...) -> Scenario {
        events.reduce(LogTesting.given()) { $0.given($1, in: session) }.given(
            AccountEvent.registered(
                mailbox: UUID(high: 5, low: 5), isConfirmed: true, origin: .code,
                person: ann), in: account)
    }

    private func attempt(after seconds: Int64 = 0) -> UUID {
        RecordRefusedRefresh.attempt(with: session, at: now.adding(seconds: seconds))
    }

    @Test func `a refused refresh token is recorded with the reason`() async throws {
        let ended = SessionEvent.ended(.loggedOut)
        try await given(opened(), ended).when(command())
            .then(refused("session_ended"), in: attempt())
        try await given(opened()).when(command(after: 60))
            .then(refused("session_expired"), in: attempt(after: 60))
        try await given(opened(stamp: 1)).when(command())
            .then(refused("signed_out_everywhere"), in: attempt())
        try await given(opened()).when(command())
            .then(refused("invalid_refresh_token"), in: attempt())
        let other = UUID(high: 8, low: 8)
        try await given(opened()).when(command(of: other))
            .then(refused("other_client", by: other), in: attempt())
        try await given(opened()).given(AccountEvent.disabled(mail: nil), in: account)
            .when(command()).then(refused("account_blocked"), in: attempt())
    }

    @Test func `a refused refresh token is recorded once an hour`() async throws {
        let ended = SessionEvent.ended(.loggedOut)
        let known = given(opened(), ended).given(refused("session_ended"), in: attempt())
        try await known.when(command(after: 1)).thenRejected(.enough)
        try await known.when(command(after: 3600))
            .then(refused("session_ended"), in: attempt(after: 3600))
    }

    @Test func `a refused refresh token of an unknown session is not recorded`() async throws {
        try await LogTesting.given().when(command()).thenRejected(.unknownSession)
    }
}
