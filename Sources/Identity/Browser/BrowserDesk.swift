internal import EventSourcing
internal import Values

/// What a sign-in on a page opens in the place of a client's session.
struct BrowserDesk: Sendable {
    let method: BrowserMethod
    /// Of the secret in the cookie.
    let digest: SecretDigest
    /// The session that the browser had until now.
    let replaced: Versioned<BrowserSession>?
    /// Client sessions that depend on that session: they end with it if another account signs in.
    var dependents: [(end: EndSession, facts: EndSession.Facts)] = []
    /// Seconds that it lasts at most, where it is for one purpose.
    var most: Int64?
    /// The web app at whose place the page is.
    var webApp: UUID?
    /// Its person says that it is their own.
    var isLong = false
    /// What opens it, where the person proves nothing here.
    var opener: Opener?

    /// Seconds that the session lasts.
    func lifetime(_ settings: Settings) -> Int64 {
        let usual =
            settings[
                isLong
                    ? SettingCatalogue.longSessionLifetime
                    : SettingCatalogue.browserSessionLifetime]
        return min(usual, most ?? usual)
    }

    /// The session's event, after the other decisions, and the end of the session before.
    func open(
        _ session: UUID, after decision: Decision, account: (id: UUID, stamp: SecurityStamp),
        factors: [AuthenticationFactor], _ request: GrantRequest, _ settings: Settings
    ) -> Decision {
        var decision = decision
        let lifetime = lifetime(settings)
        var terms = BrowserTerms(
            account: account.id, stamp: account.stamp, app: request.app, method: method,
            factors: factors, digest: digest, openedAt: request.now,
            expiresAt: request.now.adding(seconds: lifetime), from: request.from)
        terms.webApp = webApp
        terms.isLong = isLong
        terms.opener = opener
        if let replaced, let known = replaced.state.terms, known.account == account.id,
            replaced.state.end == nil
        {
            terms.line = known.line ?? replaced.stream
        }
        decision.append(BrowserSessionEvent.opened(terms), in: session)
        if let replaced, let terms = replaced.state.terms, replaced.state.end == nil {
            let isHandedOver = terms.account != account.id
            if isHandedOver {
                decision.append(ends(from: terms.line ?? replaced.stream, settings))
            }
            decision.append(
                BrowserSessionEvent.ended(isHandedOver ? .handedOver : .replaced),
                in: replaced.stream, of: terms.account)
        }
        return decision
    }

    /// The same, ended by a log-out: offline sessions of clients stay.
    private func ends(from line: UUID, _ settings: Settings) -> Decision {
        let endsOffline = settings[SettingCatalogue.logoutEndsOffline]
        return dependents.reduce(into: Decision()) { decision, dependent in
            guard let terms = dependent.facts.session.state.terms, terms.browser == line,
                !terms.isOffline || endsOffline,
                let end = try? dependent.end.decide(dependent.facts)
            else { return }
            decision.append(end)
        }
    }
}
