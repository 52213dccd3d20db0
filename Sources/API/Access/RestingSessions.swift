internal import EventSourcing
internal import Identity
internal import ReadModels
internal import Values

/// A session rests while something is in its way that may go again: its client or one above it is disabled, or a
/// certification was taken back. Its tokens are not good, and it can be listed and ended.
extension RealmContext {
    /// A session that is good, or rests.
    func lasting(_ session: UUID) async throws(Problem) -> SessionView? {
        let line = try await ask(SessionLine.bySession, session)
        guard let line else { return nil }
        if try await live(line) != nil { return line.session }
        return try await isOver(line.session, in: line) ? nil : line.session
    }

    /// Whether the session ended, or a session above it.
    private func isOver(
        _ found: SessionView, in line: SessionLine
    ) async throws(Problem) -> Bool {
        let (lookups, terms) = (RealmLookups(self), found.terms)
        guard clock.now() < terms.expiresAt,
            try await lookups.folded(Session.self, found.id).end == nil
        else { return true }
        if let account = terms.account,
            try await !lookups.folded(Account.self, account).keeps(terms)
        {
            return true
        }
        for client in [terms.client, terms.opener?.installation].compactMap({ $0 })
        where try await lookups.folded(Client.self, client).isDeleted {
            return true
        }
        for id in found.above {
            guard let above = line.above[id], try await !isOver(above, in: line) else {
                return true
            }
        }
        return false
    }
}
