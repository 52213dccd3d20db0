import API
import JSON
import Values

/// The names in a command: those that stand for ids, and those that nothing has.
extension RouteCommand {
    /// A refusal because of an unknown name, as a failure that suggests the nearest name. The list is read
    /// here, by the operator, and never for callers over HTTP, who may be allowed less.
    func explain(
        _ refusal: RouteRefusal, _ values: JSONObject, _ requests: AdminRequests
    ) async -> CommandFailure {
        if let failure = try? await unknownRole(refusal, values, requests) { return failure }
        guard
            let resource = NamedResource.all.first(where: {
                $0.problem == refusal.kind && takes($0)
            }), !resource.isNamedByID, let name = values[resource.input]?.string,
            let known = try? await items(of: resource, values, requests)
                .compactMap({ $0[resource.member]?.string }),
            !known.contains(name)
        else { return refusal.failure }
        return .missing(
            resource.noun, name, among: known,
            remedy: "`\(resource.listCommand(in: values["realm"]?.string))` names them.")
    }

    /// Puts ids in the place of the names that people know.
    func resolve(_ values: inout JSONObject, _ requests: AdminRequests) async throws {
        try await resolveAccount(&values, requests)
        for resource in NamedResource.all where resource.isNamedByID && takes(resource) {
            guard let name = values[resource.input]?.string, UUID(name) == nil else { continue }
            let items = try await items(of: resource, values, requests)
            let list = resource.listCommand(in: values["realm"]?.string)
            let ids = items.filter { $0[resource.member]?.string == name }.compactMap { $0["id"] }
            guard let id = ids.first else {
                throw CommandFailure.missing(
                    resource.noun, name, among: items.compactMap { $0[resource.member]?.string },
                    remedy: "`\(list)` names them.")
            }
            guard ids.count == 1 else {
                throw CommandFailure(
                    "\(ids.count) of the \(resource.noun)s are named '\(name)'",
                    remedy: "`\(list)` shows their ids.")
            }
            values[resource.input] = id
        }
    }

    private func takes(_ resource: NamedResource) -> Bool {
        inputs.contains { resource.isNamed(by: $0) }
    }

    /// What help says of an input that may be a name in place of an id.
    func nameHint(_ input: Operation.Input) -> String {
        if isAccount(input) { return " A mail address will do." }
        guard
            let resource = NamedResource.all.first(where: {
                $0.isNamedByID && $0.isNamed(by: input)
            })
        else { return "" }
        return " Its \(resource.member) will do."
    }

    private func items(
        of resource: NamedResource, _ values: JSONObject, _ requests: AdminRequests
    ) async throws -> [JSON] {
        var asked = values.filter { $0.key == "realm" && resource.input != "realm" }
        asked["limit"] = 200
        var items: [JSON] = []
        for _ in 0..<NamedResource.mostPages {
            let page = try await requests.read(resource.list, asked)
            items += page["items"]?.array ?? []
            guard let next = page.nextPage else { break }
            asked["after"] = .string(next)
        }
        return items
    }

    /// The admin API says only that one of the roles is none of the realm's.
    private func unknownRole(
        _ refusal: RouteRefusal, _ values: JSONObject, _ requests: AdminRequests
    ) async throws -> CommandFailure? {
        guard refusal.kind == .invalidField, refusal.field == "roles",
            let given = values["roles"]?.object
        else { return nil }
        let settings = try await requests.read(
            "getRealmSettings", values.filter { $0.key == "realm" })
        let known = settings["roles"]?.object ?? [:]
        let remedy = "`urd realm settings` shows the roles that the realm has."
        for (audience, names) in given.sorted(by: { $0.key < $1.key }) {
            let names = names.array?.compactMap(\.string) ?? []
            guard !names.isEmpty else { continue }
            guard let roles = known[audience]?.object else {
                return .missing(
                    "audience", audience, among: known.map(\.key), remedy: remedy)
            }
            for name in names where roles[name] == nil {
                return .missing("role", name, among: roles.map(\.key), remedy: remedy)
            }
        }
        return nil
    }
}
