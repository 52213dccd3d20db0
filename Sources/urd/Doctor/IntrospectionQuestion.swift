import API
import EventSourcing
import ReadModels

/// Why a client hears of a token at the introspection endpoint that it is active, or that it isn't.
struct IntrospectionQuestion: Equatable, Sendable {
    let realm: String
    let client: String
    let token: String

    func answer(_ settings: Settings) async throws -> Diagnosis {
        guard let realm = RealmID(realm) else {
            return .wrong(
                "introspection", "there is no realm \(self.realm)",
                mend: "urd realm list names them.")
        }
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let contexts = RealmContexts(
            store: store, queries: try Models(store).queries, Forwarding(), nil)
        return Diagnosis(
            try await contexts.explainIntrospection(of: token, by: client, in: realm))
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
