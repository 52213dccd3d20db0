import API
import EventSourcing
import ReadModels
import Values

extension ReadModelQueries {
    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [InviteView] {
        try await asking { () throws(ReadFailure) in
            try await inviteModel.page(in: realm, app: app, after: after, limit: limit)
        }.map {
            InviteView(id: $0.id, terms: $0.terms, createdAt: $0.createdAt, usedAt: $0.usedAt)
        }
    }
}
