internal import EventSourcing
internal import Values

/// Where a person approved a device, with all that has to stand behind it when the device comes for its tokens.
struct DeviceApprover: Sendable {
    private let browser: LoginBrowser?
    private let session: Versioned<Session>?
    private let line: OpenerLine

    /// Nil where it is not on record.
    static func read(
        _ place: ApprovalPlace?, from streams: some StreamReader
    ) async throws(LogFailure) -> DeviceApprover? {
        switch place {
        case .browser(let id):
            let browser = try await LoginBrowser.read(id, from: streams)
            return DeviceApprover(browser: browser, session: nil, line: OpenerLine())
        case .session(let id):
            let session = try await streams.read(Session.self, id)
            let line = try await OpenerLine.read(Opener(session: id), from: streams)
            return DeviceApprover(browser: nil, session: session, line: line)
        case nil: return nil
        }
    }

    func isSignedIn(_ account: Versioned<Account>, at now: Timestamp) -> Bool {
        if let browser { return browser.login(of: account, at: now) != nil }
        guard let terms = session?.state.terms, terms.account == account.stream else {
            return false
        }
        return account.state.keeps(terms) && line.isStanding(at: now)
    }

    /// What the device's session ends with. It stays when the browser or the app is signed out.
    var opener: Opener? { browser?.opener ?? session?.state.terms?.opener }
}
