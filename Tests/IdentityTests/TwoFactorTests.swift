import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let totp = UUID(high: 13, low: 13)
let factor = TwoFactor.stream(of: account)

/// A code that is right for one secret in one period, or that is a recovery code.
func typed(_ step: Int64? = nil, recovery byte: UInt8? = nil) throws -> TypedFactor {
    let recovery = try byte.map { try digest($0) }
    return TypedFactor(
        step: { secret in secret == "c2VjcmV0" ? step : nil }, recoveryDigest: { _ in recovery })
}

func offered(_ secret: String? = "c2VjcmV0", at: Timestamp = noon) -> TwoFactorEvent {
    .offered(
        OfferedTOTP(
            id: totp, account: account, secret: secret, expiresAt: at.adding(seconds: 600)))
}

func confirmed(step: Int64 = 100, at: Timestamp = noon) throws -> TwoFactorEvent {
    .confirmed(
        ConfirmedTOTP(
            account: account, step: step, at: at, recoveryCodes: [try digest(8), try digest(9)],
            mail: mail))
}

extension Scenario {
    /// Ann has an authenticator app, whose last code was of the period 100.
    func givenTwoFactor() throws -> Scenario {
        given(offered(), try confirmed(), in: factor)
    }
}

@Suite struct `Enrolling an authenticator app` {
    func enroll() -> EnrollTOTP {
        EnrollTOTP(account: account, totp: totp, secret: "c2VjcmV0", now: noon)
    }

    func confirm(_ step: Int64? = 100, at: Timestamp = noon) throws -> ConfirmTOTP {
        ConfirmTOTP(
            account: account, typed: try typed(step),
            recoveryCodes: [try digest(8), try digest(9)], mail: mail, now: at)
    }

    @Test func `enrolling an authenticator app shows the secret until a code proved it`()
        async throws
    {
        let realm = try givenLinkedRealm()
        try await realm.when(enroll()).then(offered(), in: factor)
        try await realm.given(offered("other"), in: factor).when(enroll())
            .then(offered(), in: factor)
        try await realm.givenTwoFactor().when(enroll()).thenRejected(.enrolledAlready)
        try await realm.givenTwoFactor()
            .given(TwoFactorEvent.removed(account: account, mail: mail), in: factor)
            .when(enroll()).then(offered(), in: factor)
    }

    @Test func `enrolling an authenticator app is completed by a code of the latest secret`()
        async throws
    {
        let realm = try givenLinkedRealm()
        try await realm.given(offered("other"), offered(), in: factor).when(confirm())
            .then(confirmed(), in: factor)
        try await realm.given(offered(), offered("other"), in: factor).when(confirm())
            .thenRejected(.wrongCode)
        try await realm.given(offered(), in: factor).when(confirm(nil)).thenRejected(.wrongCode)
    }

    @Test func `enrolling an authenticator app is refused with an old, erased or unshown secret`()
        async throws
    {
        let realm = try givenLinkedRealm()
        try await realm.when(confirm()).thenRejected(.notOffered)
        try await realm.given(offered(), in: factor)
            .when(confirm(at: noon.adding(seconds: 600))).thenRejected(.notOffered)
        try await realm.given(offered(nil), in: factor).when(confirm()).thenRejected(.notOffered)
        try await realm.givenTwoFactor().when(confirm(101)).thenRejected(.enrolledAlready)
        try await realm.givenTwoFactor()
            .given(TwoFactorEvent.removed(account: account, mail: mail), in: factor)
            .when(confirm(101)).thenRejected(.notOffered)
    }

    @Test func `enrolling an authenticator app needs an active account in an enabled realm`()
        async throws
    {
        try await givenRealm().when(enroll()).thenRejected(.accountBlocked)
        try await givenLinkedRealm().given(AccountEvent.disabled(), in: account).when(confirm())
            .thenRejected(.accountBlocked)
        try await given().when(enroll()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(confirm()).thenRejected(.realmDisabled)
    }

    @Test func `enrolling an authenticator app has one stream per account`() {
        let other = UUID(high: account.high, low: account.low + 1)
        #expect(Set([account, other, factor, TwoFactor.stream(of: other)]).count == 4)
    }
}

@Suite struct `Removing an authenticator app` {
    func remove(_ typed: TypedFactor, at: Timestamp = noon) -> RemoveTOTP {
        RemoveTOTP(account: account, typed: typed, mail: mail, now: at)
    }

    func renew(_ typed: TypedFactor) throws -> RenewRecoveryCodes {
        RenewRecoveryCodes(
            account: account, typed: typed, recoveryCodes: [try digest(5)], now: noon)
    }

    @Test func `removing an authenticator app takes one of its codes or a recovery code`()
        async throws
    {
        let realm = try givenLinkedRealm().givenTwoFactor()
        let removed = TwoFactorEvent.removed(account: account, mail: mail)
        try await realm.when(remove(typed(101)))
            .then(TwoFactorEvent.used(step: 101), removed, in: factor)
        try await realm.when(remove(typed(recovery: 9)))
            .then(TwoFactorEvent.recoveryCodeUsed(digest(9)), removed, in: factor)
    }

    @Test func `removing an authenticator app is refused with no code or a used one`() async throws
    {
        let realm = try givenLinkedRealm().givenTwoFactor()
        try await realm.when(remove(typed())).then(TwoFactorEvent.refused(at: noon), in: factor)
        try await realm.when(remove(typed(recovery: 7)))
            .then(TwoFactorEvent.refused(at: noon), in: factor)
        try await realm.given(TwoFactorEvent.recoveryCodeUsed(digest(9)), in: factor)
            .when(remove(typed(recovery: 9))).then(TwoFactorEvent.refused(at: noon), in: factor)
        // Who sends the same twice guesses nothing.
        try await realm.when(remove(typed(100))).thenRejected(.wrongCode)
        try await realm.given(TwoFactorEvent.used(step: 102), in: factor)
            .when(remove(typed(101))).thenRejected(.wrongCode)
        try await givenLinkedRealm().when(remove(typed(101))).thenRejected(.notEnrolled)
        try await givenRealm().when(remove(typed(101))).thenRejected(.accountBlocked)
        try await given().when(remove(typed(101))).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(remove(typed(101))).thenRejected(.realmDisabled)
    }

    @Test func `removing an authenticator app with an erased secret takes recovery codes alone`()
        async throws
    {
        let realm = try givenLinkedRealm().given(offered(nil), try confirmed(), in: factor)
        try await realm.when(remove(typed(101))).then(
            TwoFactorEvent.refused(at: noon), in: factor)
        try await realm.when(remove(typed(recovery: 8))).then(
            TwoFactorEvent.recoveryCodeUsed(digest(8)),
            TwoFactorEvent.removed(account: account, mail: mail), in: factor)
    }

    @Test func `removing an authenticator app is locked after five wrong guesses, ever longer`()
        async throws
    {
        var realm = try givenLinkedRealm().givenTwoFactor()
        for _ in 0..<4 { realm = realm.given(TwoFactorEvent.refused(at: noon), in: factor) }
        let used = TwoFactorEvent.used(step: 101)
        let removed = TwoFactorEvent.removed(account: account, mail: mail)
        try await realm.when(remove(typed(101))).then(used, removed, in: factor)
        for rest in [60, 120, 240] as [Int64] {
            realm = realm.given(TwoFactorEvent.refused(at: noon), in: factor)
            let early = noon.adding(seconds: rest - 1)
            try await realm.when(remove(typed(101), at: early)).thenRejected(.wrongCode)
            try await realm.when(remove(typed(recovery: 9), at: early)).then(
                TwoFactorEvent.recoveryCodeUsed(digest(9)), removed, in: factor)
            try await realm.when(remove(typed(101), at: noon.adding(seconds: rest)))
                .then(used, removed, in: factor)
        }
        for _ in 0..<100 { realm = realm.given(TwoFactorEvent.refused(at: noon), in: factor) }
        let day: Int64 = 86_400
        try await realm.when(remove(typed(101), at: noon.adding(seconds: day - 1)))
            .thenRejected(.wrongCode)
        try await realm.when(remove(typed(101), at: noon.adding(seconds: day)))
            .then(used, removed, in: factor)
        // A code that was right begins anew.
        try await realm.given(TwoFactorEvent.used(step: 100), in: factor)
            .when(remove(typed(101))).then(used, removed, in: factor)
    }

    @Test func `renewing recovery codes keeps the authenticator app and needs a code`() async throws
    {
        let realm = try givenLinkedRealm().givenTwoFactor()
        let renewed = TwoFactorEvent.recoveryCodesRenewed([try digest(5)])
        try await realm.when(renew(typed(101)))
            .then(TwoFactorEvent.used(step: 101), renewed, in: factor)
        try await realm.when(renew(typed())).then(TwoFactorEvent.refused(at: noon), in: factor)
        try await givenLinkedRealm().when(renew(typed(101))).thenRejected(.notEnrolled)
        let after = realm.given(renewed, in: factor)
        try await after.when(remove(typed(recovery: 9)))
            .then(TwoFactorEvent.refused(at: noon), in: factor)
        try await after.when(remove(typed(recovery: 5))).then(
            TwoFactorEvent.recoveryCodeUsed(digest(5)),
            TwoFactorEvent.removed(account: account, mail: mail), in: factor)
    }
}

@Suite struct `Resetting a second factor` {
    let reset = ResetTwoFactor(account: account, mail: mail)

    @Test func `resetting a second factor removes it without a code`() async throws {
        try await givenLinkedRealm().givenTwoFactor().when(reset)
            .then(TwoFactorEvent.removed(account: account, mail: mail), in: factor)
        try await givenLinkedRealm().when(reset).thenNothing()
        // What a stranger offered is not confirmed afterwards.
        let waiting = try givenLinkedRealm().given(offered(), in: factor)
        let removed = TwoFactorEvent.removed(account: account, mail: mail)
        try await waiting.when(reset).then(removed, in: factor)
        try await waiting.given(removed, in: factor).when(reset).thenNothing()
        // Also of somebody who may not sign in for now.
        try await givenLinkedRealm().given(AccountEvent.disabled(), in: account).givenTwoFactor()
            .when(reset).then(TwoFactorEvent.removed(account: account, mail: mail), in: factor)
    }

    @Test func `resetting a second factor needs an account in an enabled realm`() async throws {
        try await given().when(reset).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(reset).thenRejected(.realmDisabled)
        try await givenRealm().when(reset).thenRejected(.notFound)
        try await givenLinkedRealm().given(AccountEvent.deleted(subjects: []), in: account)
            .when(reset).thenRejected(.notFound)
    }
}

@Suite struct `A second factor at sign-in` {
    func redeemCode(_ second: TypedFactor?) throws -> RedeemGrant<OTPGrant> {
        RedeemGrant(
            OTPGrant(
                mailbox: mailbox, digest: try digest(1), account: UUID(high: 20, low: 20),
                second: second), request)
    }

    func redeemLink(_ second: TypedFactor?) throws -> RedeemGrant<MagicLinkGrant> {
        RedeemGrant(
            MagicLinkGrant(account: account, digest: try digest(1), second: second), request)
    }

    private var request: GrantRequest {
        GrantRequest(client: client, clientID: "web", proof: .none, session: session, now: noon)
    }

    func given() throws -> Scenario {
        try givenNativeRealm(
            [:], metadata: ["grant_types": ["urn:cocoar:magic", "urn:cocoar:otp"]]
        )
        .given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
        .given(issued(.signIn), linkIssued(), in: mailbox).givenTwoFactor()
    }

    func opened(
        _ factors: AuthenticationFactor..., by method: GrantType = .nativeOTP
    ) -> (any Event, UUID) {
        (
            SessionEvent.opened(
                SessionTerms(
                    account: account, stamp: 0, client: client, clientID: "web", app: nil,
                    scope: [], resources: [], factors: factors, openedAt: noon,
                    expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: false, method: method)
            ),
            session
        )
    }

    func refused(_ reason: String, _ method: GrantType) -> (any Event, UUID) {
        (
            SessionEvent.refused(
                RefusedSignIn(
                    method: method, reason: reason, account: account, client: client,
                    clientID: "web", app: nil, from: SignInPlace())), session
        )
    }

    func decided(_ events: (any Event, UUID)...) -> Decision {
        var decision = Decision()
        for (event, stream) in events { decision.append(event, in: stream) }
        return decision
    }

    let used = (TwoFactorEvent.used(step: 101) as any Event, factor)
    let guess = (TwoFactorEvent.refused(at: noon) as any Event, factor)
    let codeUsed = (MailboxEvent.codeRedeemed(code) as any Event, mailbox)
    let codeTried = (MailboxEvent.codeRefused(code, at: noon) as any Event, mailbox)
    let linkUsed = (MailboxEvent.linkRedeemed(link) as any Event, mailbox)

    @Test func `a second factor is asked for after a mailed code, which is not used up yet`()
        async throws
    {
        let realm = try given()
        try await realm.when(redeemCode(typed(101))).then(
            decided(codeUsed, used, opened(.mailedCode, .multiple)))
        try await realm.when(redeemCode(typed(recovery: 9))).then(
            decided(
                codeUsed, (TwoFactorEvent.recoveryCodeUsed(try digest(9)), factor),
                opened(.mailedCode, .multiple)))
        let required = refused("second_factor_required", .nativeOTP)
        try await realm.when(redeemCode(nil)).then(decided(codeTried, required))
        let invalid = refused("invalid_second_factor", .nativeOTP)
        try await realm.when(redeemCode(typed())).then(decided(codeTried, guess, invalid))
        try await realm.when(redeemCode(typed(100))).then(decided(codeTried, invalid))
        let tried = realm.given(
            MailboxEvent.codeRefused(code, at: noon), MailboxEvent.codeRefused(code, at: noon),
            in: mailbox)
        try await tried.when(redeemCode(typed(101))).then(
            decided(codeUsed, used, opened(.mailedCode, .multiple)))
        try await tried.given(MailboxEvent.codeRefused(code, at: noon), in: mailbox)
            .when(redeemCode(typed(101))).then(decided(refused("invalid_code", .nativeOTP)))
    }

    @Test func `a second factor is asked for after a mailed link, which is used up`() async throws {
        let realm = try given()
        try await realm.when(redeemLink(typed(101))).then(
            decided(
                linkUsed, used, opened(.mailedLink, .mailedCode, .multiple, by: .nativeMagicLink)))
        let required = refused("second_factor_required", .nativeMagicLink)
        try await realm.when(redeemLink(nil)).then(decided(linkUsed, required))
        let invalid = refused("invalid_second_factor", .nativeMagicLink)
        try await realm.when(redeemLink(typed())).then(decided(linkUsed, guess, invalid))
    }

    @Test func `a second factor is not asked for after a wrong first factor`() async throws {
        let realm = try given().given(
            MailboxEvent.codeRedeemed(code), MailboxEvent.linkRedeemed(link), in: mailbox)
        try await realm.when(redeemCode(typed(101))).then(
            decided(refused("invalid_code", .nativeOTP)))
        try await realm.when(redeemLink(typed())).then(
            decided(refused("invalid_link", .nativeMagicLink)))
    }

    @Test func `a second factor that is not proved, or was removed, is not asked for`() async throws
    {
        let realm = try givenNativeRealm([:]).given(registeredAccount(), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
            .given(issued(.signIn), in: mailbox).given(offered(), in: factor)
        try await realm.when(redeemCode(nil)).then(decided(codeUsed, opened(.mailedCode)))
        try await given().given(TwoFactorEvent.removed(account: account, mail: mail), in: factor)
            .when(redeemCode(typed())).then(decided(codeUsed, opened(.mailedCode)))
    }
}
