import API
import EventSourcing
import Identity
import JSON
import Postgres
import ReadModels
import Values

extension ReadModelQueries {
    func webApp(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> WebAppView? {
        try view(
            try await asking { () throws(ReadFailure) in
                try await WebApps(database).find(id, in: realm)
            })
    }

    func webApp(
        slug: String, kind: WebAppKind, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try view(
            try await asking { () throws(ReadFailure) in
                try await WebApps(database).find(slug: slug, kind: kind.rawValue, in: realm)
            })
    }

    func webApp(
        originHost host: String, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try view(
            try await asking { () throws(ReadFailure) in
                try await WebApps(database).find(originHost: host, in: realm)
            })
    }

    func webApps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [WebAppView] {
        let entries = try await asking { () throws(ReadFailure) in
            try await WebApps(database).page(in: realm, after: after, limit: limit)
        }
        var views: [WebAppView] = []
        for entry in entries {
            if let view = try view(entry) { views.append(view) }
        }
        return views
    }

    private func view(_ entry: WebApps.Entry?) throws(LogFailure) -> WebAppView? {
        guard let entry else { return nil }
        guard let card = WebAppCard(recorded: entry.card) else { throw .damaged }
        return WebAppView(id: entry.id, card: card, createdAt: entry.registeredAt)
    }
}
