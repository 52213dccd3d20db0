internal import EventSourcing
internal import Values

/// What a sign-in on a page opens in the place of a client's session.
struct BrowserDesk: Sendable {
    let method: BrowserMethod
    /// Of the secret in the cookie.
    let digest: SecretDigest
    /// The session that the browser had until now.
    let replaced: Versioned<BrowserSession>?
    /// The first one of its line, where it was not that one.
    var first: Versioned<BrowserSession>?
    /// The ends of client sessions that depend on that session, if another account signs in.
    var dependents: [(end: LeaveSessions, facts: LeaveSessions.Facts)] = []
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
                for dependent in dependents {
                    decision.append(dependent.end.decide(dependent.facts))
                }
            }
            // With the first one end the codes of every one in between.
            for ended in isHandedOver ? [replaced, first].compactMap({ $0 }) : [replaced] {
                decision.append(
                    BrowserSessionEvent.ended(isHandedOver ? .handedOver : .replaced),
                    in: ended.stream, of: terms.account)
            }
        }
        return decision
    }
}
