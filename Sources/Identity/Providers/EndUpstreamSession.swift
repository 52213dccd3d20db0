public import EventSourcing
public import Values

/// Ends all that was opened by a session at a provider, which the provider says is over.
public struct EndUpstreamSession: Command {
    /// What follows from the provider's name for it.
    public var session: UUID

    public init(_ session: UUID) {
        self.session = session
    }

    public typealias Rejection = Never

    public struct Facts: RealmFacts {
        let inRealm: InRealm<UpstreamSession>
        let browsers: [Versioned<BrowserSession>]
        let apps: [Versioned<Session>]

        public var realm: Versioned<Realm> { inRealm.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let inRealm: InRealm<UpstreamSession> = try await .read(session, from: streams)
        var browsers: [Versioned<BrowserSession>] = []
        var apps: [Versioned<Session>] = []
        for opened in inRealm.thing.state.opened {
            if opened.isBrowser {
                browsers.append(try await streams.read(BrowserSession.self, opened.session))
            } else {
                apps.append(try await streams.read(Session.self, opened.session))
            }
        }
        return Facts(inRealm: inRealm, browsers: browsers, apps: apps)
    }

    public func decide(_ facts: Facts) -> Decision {
        // One that opened nothing yet may be what a code or an ID token is of.
        let upstream = facts.inRealm.thing.state
        guard !upstream.isEnded || !upstream.opened.isEmpty else { return Decision() }
        var decision = Decision(UpstreamSessionEvent.ended, in: session)
        for browser in facts.browsers {
            // Also one that another took the place of, so that no code that came of it is good any more.
            guard let terms = browser.state.terms,
                browser.state.end == nil || browser.state.end == .replaced
            else { continue }
            decision.append(
                BrowserSessionEvent.ended(.signedOut), in: browser.stream, of: terms.account)
        }
        for app in facts.apps {
            guard let terms = app.state.terms, app.state.end == nil else { continue }
            decision.append(
                SessionEvent.ended(.loggedOut), in: app.stream, of: terms.account)
        }
        return decision
    }
}
