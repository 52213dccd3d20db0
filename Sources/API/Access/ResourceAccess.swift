internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// What a user may do at the audiences of a token: their roles there, and what those permit.
struct ResourceAccess {
    static let schema = Schema.map(
        of: .object(
            .optional(
                "roles", names, "Roles of the account at the audience, with the scope `roles`."),
            .optional(
                "permissions", names, "Permissions of these roles, with the scope `permissions`.")))

    private static let names = Schema.list(
        of: .text(1...RealmRoles.longestName), 0...(RealmRoles.mostRoles * 200))

    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// Told of the audiences alone that the token is good for: its resources, and those that its scope
    /// names. It is read from the events, and so as true as the log; a role that the realm does not
    /// know any more is none.
    func read(
        of account: UUID, _ scope: [String], _ resources: [String]
    ) async throws(Problem) -> JSON? {
        guard scope.contains("roles") || scope.contains("permissions") else { return nil }
        let events = try await RealmLookups(context).events(of: account)
        guard let given = KnownPerson(events)?.roles else { return nil }
        return Self.access(given, context.place.settings.roles, scope, resources)
    }

    /// The same of a person whose account was read.
    static func access(
        _ given: GivenRoles, _ known: RealmRoles, _ scope: [String], _ resources: [String]
    ) -> JSON? {
        let (tellsRoles, tellsPermissions) = (
            scope.contains("roles"), scope.contains("permissions")
        )
        guard tellsRoles || tellsPermissions else { return nil }
        var access: JSONObject = [:]
        for audience in resources + scope {
            let roles = (given.byAudience[audience] ?? []).filter { known.has($0, at: audience) }
            guard !roles.isEmpty else { continue }
            var members: JSONObject = [:]
            if tellsRoles { members["roles"] = .array(roles.map { .string($0) }) }
            if tellsPermissions {
                members["permissions"] = .array(
                    known.permissions(of: roles, at: audience).map { .string($0) })
            }
            access[audience] = .object(members)
        }
        return access.isEmpty ? nil : .object(access)
    }
}
