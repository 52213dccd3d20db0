import EventSourcing
import Identity
import LogTesting
import Testing
import Values

private let attempt = UUID(high: 72, low: 72)
private let place = SignInPlace(source: "AAAA", device: "Mac")

@Suite struct `Changing a second factor while signed in` {
    private func remove(_ typed: TypedFactor) -> ChangeTwoFactor<RemoveTOTP> {
        ChangeTwoFactor(
            RemoveTOTP(account: account, typed: typed, mail: mail, now: noon),
            in: .browser(.passphrase, app: app), attempt: attempt, from: place)
    }

    private func renew(_ typed: TypedFactor) throws -> ChangeTwoFactor<RenewRecoveryCodes> {
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: app, scope: [],
            resources: [], factors: [.mailedCode], openedAt: noon, expiresAt: noon,
            isOffline: false, method: .nativeOTP)
        return ChangeTwoFactor(
            RenewRecoveryCodes(
                account: account, typed: typed, recoveryCodes: [try digest(5)], now: noon),
            in: .client(terms), attempt: attempt, from: place)
    }

    private let onPage = BrowserSessionEvent.refused(
        RefusedBrowser(
            method: .passphrase, reason: "invalid_second_factor", account: account, app: app,
            from: place))
    private let inClient = SessionEvent.refused(
        RefusedSignIn(
            method: .nativeOTP, reason: "invalid_second_factor", account: account,
            client: client, clientID: "web", app: app, from: place))

    private func given() throws -> Scenario { try givenLinkedRealm().givenTwoFactor() }

    @Test func `changing a second factor with a right code records the change alone`() async throws
    {
        try await given().when(remove(typed(101))).then(
            TwoFactorEvent.used(step: 101),
            TwoFactorEvent.removed(account: account, mail: mail), in: factor)
        try await given().when(renew(typed(recovery: 9))).then(
            TwoFactorEvent.recoveryCodeUsed(digest(9)),
            TwoFactorEvent.recoveryCodesRenewed([try digest(5)]), in: factor)
    }

    @Test func `changing a second factor with a wrong code records the guess as at a sign-in`()
        async throws
    {
        var decision = Decision(TwoFactorEvent.refused(at: noon), in: factor)
        decision.append(onPage, in: attempt, of: account)
        try await given().when(remove(typed())).then(decision)
        decision = Decision(TwoFactorEvent.refused(at: noon), in: factor)
        decision.append(inClient, in: attempt, of: account)
        try await given().when(renew(typed())).then(decision)
    }

    @Test func `changing a second factor without a code records no guess`() async throws {
        // Good a moment ago.
        try await given().when(remove(typed(100))).then(onPage, in: attempt)
        var resting = try given()
        for _ in 0..<5 { resting = resting.given(TwoFactorEvent.refused(at: noon), in: factor) }
        try await resting.when(renew(typed(101))).then(inClient, in: attempt)
    }

    @Test func `changing a second factor needs one, and an account that may sign in`() async throws
    {
        try await givenLinkedRealm().when(remove(typed())).thenRejected(.notEnrolled)
        try await given().given(AccountEvent.disabled(), in: account).when(remove(typed()))
            .thenRejected(.accountBlocked)
        try await givenDisabledRealm().when(renew(typed())).thenRejected(.realmDisabled)
    }
}
