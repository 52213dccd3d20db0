import API
import EventSourcing
import ReadModels
import Values

extension ReadModelQueries {
    func consent(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> ConsentView? {
        try await asking { () throws(ReadFailure) in
            try await consentModel.find(id, in: realm)
        }.map { ConsentView(id: $0.id, given: $0.given) }
    }

    func consents(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [ConsentView] {
        try await asking { () throws(ReadFailure) in
            try await consentModel.all(of: account, in: realm)
        }.map { ConsentView(id: $0.id, given: $0.given) }
    }
}
