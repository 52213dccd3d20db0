import API
import EventSourcing
import ReadModels
import Values

/// What is read of the browsers that people are signed in with.
extension ReadModelQueries {
    func browserSession(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> BrowserSessionView? {
        try await asking { () throws(ReadFailure) in
            try await browserModel.find(id, in: realm)
        }.map(BrowserSessionView.init)
    }

    func browserSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [BrowserSessionView] {
        try await asking { () throws(ReadFailure) in
            try await browserModel.page(
                of: account, in: realm, at: now, after: after, limit: limit)
        }.map(BrowserSessionView.init)
    }
}

extension BrowserSessionView {
    fileprivate init(_ entry: BrowserSessions.Entry) {
        self.init(id: entry.id, terms: entry.terms, app: entry.app, isOver: entry.isOver)
    }
}
