internal import EventSourcing
internal import Values

/// What a sign-in on a page opens in the place of a client's session.
struct BrowserDesk: Sendable {
    let method: BrowserMethod
    /// Of the secret in the cookie.
    let digest: SecretDigest
    /// The session that the browser had until now.
    let replaced: Versioned<BrowserSession>?

    /// The session's event, behind whatever else was decided, and the end of the one before.
    func open(
        _ session: UUID, after decision: Decision, account: (id: UUID, stamp: Int),
        factors: [AuthenticationFactor], _ request: GrantRequest, _ settings: Settings
    ) -> Decision {
        var decision = decision
        let lifetime = settings[SettingCatalogue.browserSessionLifetime]
        decision.append(
            BrowserSessionEvent.opened(
                BrowserTerms(
                    account: account.id, stamp: account.stamp, app: request.app, method: method,
                    factors: factors, digest: digest, openedAt: request.now,
                    expiresAt: request.now.adding(seconds: lifetime), from: request.from)),
            in: session)
        if let replaced, let terms = replaced.state.terms, replaced.state.end == nil {
            decision.append(
                BrowserSessionEvent.ended(.replaced), in: replaced.stream, of: terms.account)
        }
        return decision
    }
}
