import API
import EventSourcing
import EventStore
import ReadModels
import Values

/// Why a client hears of a token at the introspection endpoint that it is active, or that it isn't.
struct IntrospectionQuestion: Equatable, Sendable {
    let realm: String
    let client: String
    let token: String

    func answer(_ settings: Settings) async throws -> Diagnosis {
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let realms = try await store.log.realms()
        guard let realm = realms.first(where: { $0.name == realm }) else {
            return .wrong(
                "introspection",
                "there is no realm '\(self.realm)'"
                    + NearestName.hint(for: self.realm, among: realms.map(\.name)),
                mend: "urd realm list names them.")
        }
        let queries = try Models(store).queries
        if try await queries.ask(ClientView.byClientID, client, in: realm) == nil {
            let hint = NearestName.hint(for: client, among: try await clients(of: realm, queries))
            return .wrong(
                "introspection", "there is no client '\(client)'" + hint,
                mend: "urd client list --realm \(realm) names them.")
        }
        let contexts = RealmContexts(store: store, queries: queries, Forwarding(), nil)
        return Diagnosis(
            try await contexts.explainIntrospection(of: token, by: client, in: realm))
    }

    /// Those of the first pages: in a realm with more of them a list is of no help.
    private func clients(of realm: RealmID, _ queries: ReadModelQueries) async throws -> [String] {
        var names: [String] = []
        var last: UUID?
        for _ in 0..<NamedResource.mostPages {
            let page = try await queries.ask(ClientView.page, (after: last, limit: 200), in: realm)
            names += page.map(\.clientID)
            guard page.count == 200 else { break }
            last = page.last?.id
        }
        return names
    }
}

extension Diagnosis {
    init(_ explanation: IntrospectionExplanation) {
        self =
            explanation.isActive
            ? .fine("introspection", "active: \(explanation.reason)")
            : .warning(
                "introspection", "inactive: \(explanation.reason)", mend: explanation.remedy)
    }
}
