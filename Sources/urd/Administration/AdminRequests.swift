import API
import EventSourcing
import EventStore
import HTTP
import JSON
import Telemetry

/// The admin API in this process: a process that holds the database and the master key needs no admin key.
struct AdminRequests: Sendable {
    let store: Store
    private let context: AdminContext
    private let router: Router

    /// Opens the store that the settings name; `close` when the work is done.
    init(_ settings: Settings, callsOthers: Bool = false) async throws {
        let store = try Store(settings)
        do {
            try await store.checkSchema()
            let queries = try Models(store).queries
            context = AdminContext(
                store: store, queries: queries,
                upstream: callsOthers
                    ? Upstream(calls: UpstreamCalls(try OutgoingCalls(settings))) : Upstream(),
                sender: callsOthers
                    ? try WebhookSender(
                        settings, keys: WebhookKeys(store, queries), now: store.clock.now)
                    : nil,
                // The server that sends says whether it calls this machine.
                mayBeLoopback: true,
                operator: Operator.name)
            router = Router(
                API.table, context: context, log: .silent, metrics: store.metrics)
        } catch {
            store.close()
            throw error
        }
        self.store = store
    }

    func close() {
        store.close()
    }

    /// The accounts of a realm with their secrets, which no route gives.
    func accountExport(of realm: RealmID, reason: String) -> AccountExport {
        AccountExport(context, realm: realm, reason: reason)
    }

    func response(of operation: Operation, _ values: JSONObject) async -> Response {
        await router.respond(to: operation.request(values, id: "cli"))
    }

    /// The answer to an operation, for what its path and its other inputs name.
    func read(_ id: String, _ values: JSONObject) async throws -> JSON {
        try Self.answer(await response(of: id, values))
    }

    func response(of id: String, _ values: JSONObject) async -> Response {
        guard let operation = API.operations.first(where: { $0.id == id }) else {
            preconditionFailure("There is no operation \(id).")
        }
        let named = values.filter { name, _ in operation.inputs.contains { $0.name == name } }
        return await response(of: operation, named)
    }

    /// The body; a refusal is thrown with its problem.
    static func answer(_ response: Response) throws -> JSON {
        guard response.status.code < 300 else { throw refusal(response) }
        return (try? JSON.parse(response.body)) ?? .null
    }

    static func refusal(_ response: Response) -> RouteRefusal {
        RouteRefusal((try? JSON.parse(response.body)) ?? .null, status: response.status.code)
    }
}

/// A route refused what a command asked of it.
struct RouteRefusal: Error, CustomStringConvertible {
    /// Nil where the answer was no problem of the admin API.
    let kind: ProblemKind?
    let field: String?
    /// In the words of the problem.
    let failure: CommandFailure

    init(_ problem: JSON, status: Int) {
        kind = ProblemKind.allCases.first { $0.type == problem["type"]?.string }
        field = problem["field"]?.string
        let title = problem["title"]?.string ?? "the answer was \(status)"
        // The detail names the field already.
        if let detail = problem["detail"]?.string {
            failure = CommandFailure("\(title) \(detail)")
        } else {
            failure = CommandFailure(field.map { "\(title) (\($0))" } ?? title)
        }
    }

    var description: String { failure.description }
}
