internal import EventSourcing
internal import Values

/// What something was opened by, with all that those were opened by in turn: what a decision asserts about
/// them holds when it is committed, so that nothing outlives the end of one that came first.
struct OpenerLine: Sendable {
    private var clients: [Versioned<Client>] = []
    private var sessions: [SessionLink] = []
    private var browsers: [BrowserLink] = []

    private struct SessionLink: Sendable {
        let session: Versioned<Session>
        let client: Versioned<Client>
        let account: Versioned<Account>
    }

    private struct BrowserLink: Sendable {
        let browser: Versioned<BrowserSession>
        let account: Versioned<Account>
    }

    static func read(
        _ opener: Opener?, from streams: some StreamReader
    ) async throws(LogFailure) -> OpenerLine {
        var line = OpenerLine()
        // What was opened is younger than its opener, so that this comes to an end.
        var next = opener
        while let opener = next {
            next = nil
            if let installation = opener.installation {
                line.clients.append(try await streams.read(Client.self, installation))
            }
            if let id = opener.session {
                let session = try await streams.read(Session.self, id)
                let terms = session.state.terms
                line.sessions.append(
                    SessionLink(
                        session: session,
                        client: try await streams.read(Client.self, terms?.client ?? .zero),
                        account: try await streams.read(Account.self, terms?.account ?? .zero)))
                next = terms?.opener
            }
            if let id = opener.browser {
                let browser = try await streams.read(BrowserSession.self, id)
                line.browsers.append(
                    BrowserLink(
                        browser: browser,
                        account: try await streams.read(
                            Account.self, browser.state.terms?.account ?? .zero)))
                next = browser.state.terms?.opener
            }
        }
        return line
    }

    /// Whether all sessions of the line are valid.
    func isStanding(at now: Timestamp) -> Bool { isAwake && !isOver(at: now) }

    /// False while the certification of one is taken back.
    var isAwake: Bool {
        sessions.allSatisfy { link in
            link.session.state.terms?.needsCertification != true
                || link.client.state.certification != nil
        }
    }

    /// Whether a session of the line has ended for good.
    func isOver(at now: Timestamp) -> Bool {
        clients.contains { $0.aliveMetadata == nil || $0.state.isDisabled }
            || sessions.contains { link in
                guard let terms = link.session.state.terms, link.session.state.end == nil else {
                    return true
                }
                return now >= terms.expiresAt || !link.account.state.keeps(terms)
                    || link.client.aliveMetadata == nil || link.client.state.isDisabled
            }
            || browsers.contains { link in
                guard let terms = link.browser.state.terms, link.browser.state.end == nil else {
                    return true
                }
                return now >= terms.expiresAt || !link.account.state.keeps(terms)
            }
    }
}

extension SessionTerms {
    /// It sleeps while its installation is not certified.
    public var needsCertification: Bool {
        self.method == .flagship && self.scope.contains(Installation.scope)
    }
}
