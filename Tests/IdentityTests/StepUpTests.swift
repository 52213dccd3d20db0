import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let stronger = UUID(high: 71, low: 71)

@Suite struct `Showing one more factor` {
    private func stepUp(
        _ second: TypedFactor, at now: Timestamp = noon
    ) throws -> SignInBrowser<StepUp> {
        SignInBrowser(
            StepUp(account: account, session: browser, second: second), by: .code,
            session: stronger, digest: try digest(9), replaced: browser, now: now)
    }

    private func givenAnn() throws -> Scenario {
        try givenRealm().given(registeredAccount(), in: account)
            .given(BrowserSessionEvent.opened(try browserTerms()), in: browser)
            .givenTwoFactor()
    }

    private func refused(_ reason: String) -> BrowserSessionEvent {
        .refused(RefusedBrowser(method: .code, reason: reason, account: account))
    }

    @Test func `stepping up opens a stronger session in place of the present one`() async throws {
        var decision = Decision(TwoFactorEvent.used(step: 101), in: factor)
        var terms = try browserTerms(factors: [.mailedCode, .multiple])
        terms.line = browser
        decision.append(BrowserSessionEvent.opened(terms), in: stronger)
        decision.append(BrowserSessionEvent.ended(.replaced), in: browser, of: account)
        try await givenAnn().when(try stepUp(try typed(101))).then(decision)
    }

    @Test func `stepping up with a wrong factor is refused and counts as a guess`() async throws {
        var decision = Decision(TwoFactorEvent.refused(at: noon), in: factor)
        decision.append(refused("invalid_second_factor"), in: stronger, of: account)
        try await givenAnn().when(try stepUp(try typed())).then(decision)
    }

    @Test func `stepping up needs a living session and a second factor`() async throws {
        let good = try typed(101)
        let no = refused("invalid_code")
        let plain = givenRealm().given(registeredAccount(), in: account)
        try await plain.given(BrowserSessionEvent.opened(try browserTerms()), in: browser)
            .when(try stepUp(good)).then(no, in: stronger)
        try await plain.givenTwoFactor().when(try stepUp(good)).then(no, in: stronger)
        try await givenAnn().given(BrowserSessionEvent.ended(.signedOut), in: browser)
            .when(try stepUp(good)).then(no, in: stronger)
        try await givenAnn().given(AccountEvent.stampRotated(), in: account)
            .when(try stepUp(good)).then(no, in: stronger)
        try await givenAnn().when(try stepUp(good, at: noon.adding(seconds: 86_400)))
            .then(no, in: stronger)
        try await givenAnn().given(AccountEvent.disabled(), in: account)
            .when(try stepUp(good)).then(refused("account_blocked"), in: stronger)
    }
}
