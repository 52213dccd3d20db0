import EventSourcing
import Identity
import ReadModels
import Values

@testable import API

extension MemoryQueries {
    func browserSession(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> BrowserSessionView? {
        let first = try await log.stream(id, after: 0, in: realm).first
        guard first?.name.hasPrefix("browser.") == true else { return nil }
        let session = try await fold(BrowserSession.self, id, realm)
        guard let terms = session.terms else { return nil }
        let account = try await fold(Account.self, terms.account, realm)
        return BrowserSessionView(
            id: id, terms: terms,
            isOver: session.end != nil || account.isDisabled || account.isDeleted
                || !account.keeps(terms), removals: account.stamp.removals)
    }

    func browserSessions(
        in realm: RealmID, _ asked: PageOfAccount
    ) async throws(LogFailure) -> [BrowserSessionView] {
        let (account, now, after, limit) = asked
        var found: [BrowserSessionView] = []
        for recorded in try await log.events(from: 1, limit: .max, in: realm)
        where recorded.name == "browser.opened" {
            guard let view = try await browserSession(recorded.stream, in: realm),
                view.terms.account == account, !view.isOver, now < view.terms.expiresAt
            else { continue }
            found.append(view)
        }
        return Array(
            found.sorted { $1.id < $0.id }.filter { view in after.map { view.id < $0 } ?? true }
                .prefix(limit))
    }

    /// With those of browsers in front.
    func loginHistory(
        of realm: RealmID, _ asked: LoginHistoryPage
    ) async throws(LogFailure) -> [LoginView] {
        let (selection, _, limit) = asked
        var views = try await clientLogins(of: realm, asked)
        for recorded in try await log.events(from: 1, limit: .max, in: realm) {
            if case .refused(let attempt) = BrowserSessionEvent(recorded),
                attempt.account == selection.account
            {
                views.insert(
                    LoginView(
                        position: recorded.position, at: recorded.at, account: attempt.account,
                        app: attempt.app, clientID: nil, method: attempt.method.rawValue,
                        isRefused: true, reason: attempt.reason, session: nil,
                        source: attempt.from.source, device: attempt.from.device), at: 0)
            }
            guard case .opened(let terms) = BrowserSessionEvent(recorded),
                terms.account == selection.account
            else { continue }
            views.insert(
                LoginView(
                    position: recorded.position, at: recorded.at, account: terms.account,
                    app: terms.app, clientID: nil, method: terms.method.rawValue,
                    isRefused: false, reason: nil, session: recorded.stream,
                    source: terms.from.source, device: terms.from.device), at: 0)
        }
        return Array(views.prefix(limit))
    }
}
