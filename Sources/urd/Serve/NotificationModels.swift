import API
import EventSourcing
import ReadModels
import Values

extension ReadModelQueries {
    func notifications(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [NotificationView] {
        try await asking { () throws(ReadFailure) in
            try await WorkQueue(.notifications, database).page(
                of: realm, failedOnly: failedOnly, after: after, limit: limit)
        }.map {
            NotificationView(
                id: $0.id, category: $0.kind, position: $0.position,
                hasFailed: $0.hasFailed, attempts: $0.attempts, dueAt: $0.dueAt, code: $0.code)
        }
    }
}
