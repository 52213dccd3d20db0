internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Runs operations of the admin API one after the other as a trial: each is decided as if those before it had been carried out, and
/// nothing is appended.
struct ConfigurationTrial: Sendable {
    let realm: RealmID
    let log: TrialLog
    private let call: Call<AdminContext>
    /// What follows outside of the log once the decisions are in it.
    let effects = TrialEffects()
    private let context: AdminContext

    init(_ call: Call<AdminContext>, in realm: RealmID) {
        self.call = call
        self.realm = realm
        log = TrialLog(over: call.context.commands.events)
        var context = call.context
        context.commands = Dispatcher(log: log)
        context.trialEffects = effects
        self.context = context
    }

    /// What an operation answers; null where it answers nothing.
    func run(
        _ route: Route<AdminContext>, _ parameters: JSONObject = [:], _ body: JSON = .null
    ) async throws(Problem) -> JSON {
        try requireRight(route)
        if let rule = route.outline.body {
            do throws(SchemaViolation) {
                try rule.schema.check(body)
            } catch {
                throw Problem(error)
            }
        }
        var given = parameters
        if route.parameters.contains(where: { $0.name == "realm" }) {
            given["realm"] = .string(realm.name)
        }
        let inner = Call(
            request: Request(
                method: route.method, path: route.path.description, query: nil,
                headers: Headers(), body: [], id: call.request.id),
            context: context, caller: call.caller, outline: route.outline, client: nil,
            parameters: given, body: body)
        let response = try await context.answer(inner, by: route.handler)
        return (try? JSON.parse(response.body)) ?? .null
    }

    /// All items of a list, page by page; the one object of a route that is no list.
    func items(_ route: Route<AdminContext>) async throws(Problem) -> [JSONObject] {
        var items: [JSONObject] = []
        var parameters: JSONObject = [:]
        let isPaged = route.parameters.contains { $0.name == "after" }
        if isPaged { parameters["limit"] = 200 }
        while true {
            let answer = try await run(route, parameters)
            guard let page = answer["items"]?.array else { return [answer.object ?? [:]] }
            items += page.compactMap(\.object)
            guard isPaged, let next = answer["next"], next != .null else { return items }
            parameters["after"] = next
        }
    }

    /// A key of one realm makes no realm and takes no host.
    private func requireRight(_ route: Route<AdminContext>) throws(Problem) {
        guard route.right == .everything, case .key(let key) = call.caller, key.scope != .all
        else { return }
        throw Problem(
            .forbidden, "Only a key of all realms may do this: \(route.summary)")
    }

    /// Decides a command beside the operations.
    func decide<C: Command>(
        _ command: C
    ) async throws(Problem) where C.Rejection == Never {
        let write = call.write(in: realm)
        _ = try await context.commands.attempt(
            command, in: realm, named: .path, id: call.newID(), by: write.origin)
    }

    /// What the trial decided in one realm.
    func commits(in realm: RealmID) -> [Commit] { log.commits.filter { $0.realm == realm } }
}
