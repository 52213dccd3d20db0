import API
import EventSourcing
import ReadModels
import Values

extension ReadModelQueries {
    func registrationTokens(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [RegistrationTokenView] {
        try await asking { () throws(ReadFailure) in
            try await registrationTokenModel.page(in: realm, after: after, limit: limit)
        }.map {
            RegistrationTokenView(
                id: $0.id, terms: $0.terms, used: $0.used, createdAt: $0.createdAt)
        }
    }
}
