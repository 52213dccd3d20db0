internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Who had which roles at a moment.
enum AsOfRoleRoutes {
    static let table: [Route<AdminContext>] = [list]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/as-of/{moment}/roles", id: "listRolesAsOf",
        commandLine: .urd(
            "as-of roles", examples: "urd as-of roles now"
        ),
        tag: "As of", summary: "List who had which roles.",
        detail: """
            Accounts that were not deleted and had a role, in the order of their ids. Also those that were \
            disabled: `enabled` says so.
            """,
        right: .realm, permission: .historyRead,
        parameters: [
            .realm, AsOfMoment.parameter("moment", "Moment of the roles."), Lists.limit,
            Lists.after(Cursor.uuid),
            Parameter(
                "role", in: .query, .text(1...RealmRoles.longestName),
                "Role that the accounts had.",
                example: "admin"),
            Parameter(
                "audience", in: .query, .text(1...2000), "Audience of the roles.",
                example: "https://api.example.org"),
        ],
        answer: .ok(
            "A page of the list.",
            .named(
                "RolesAsOf",
                .object(
                    AsOfSchema.momentMembers + [
                        ListStanding.headMember,
                        .required("items", .list(of: item, 0...200), "Accounts of this page."),
                        .required(
                            "next", .nullable(Cursor.uuid),
                            "Cursor of the next page; null on the last page."), Lists.more,
                    ])),
            example: [
                "position": 48211, "at": "2026-11-22T11:59:58.123456Z", "head": 48213,
                "items": [
                    [
                        "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "enabled": true,
                        "roles": ["https://api.example.org": ["admin"]],
                    ]
                ], "next": .null, "more": false,
            ]),
        refusals: [.noSuchRealm, .positionLost, .positionNotReached, .logDamaged]
    ) { call throws(Problem) in
        let moment = try await call.asOf("moment")
        try await call.checkRoles()
        let after = call.text("after").flatMap(Cursor.uuid) ?? .zero
        var items: [(id: UUID, json: JSON)] = []
        for id in try await call.accountsWithRoles(at: moment).sorted()
        where id > after && items.count <= call.limit {
            let state = try await call.state(of: .account(id), at: moment)["state"]?["account"]
            guard let state, let json = call.roles(of: id, state) else { continue }
            items.append((id, json))
        }
        var members = moment.members
        members["head"] = .integer(max(moment.position, try await call.standing().head))
        members["items"] = .array(items.prefix(call.limit).map(\.json))
        let hasMore = items.count > call.limit
        members["next"] =
            hasMore ? .string(Cursor.encode(items[call.limit - 1].id)) : .null
        members["more"] = .bool(hasMore)
        return .json(.ok, .object(members))
    }

    private static let item = Schema.named(
        "AccountRolesAsOf",
        .object(
            .required("account", Fields.id, "Account id."),
            .required("enabled", .boolean, "Whether the account was enabled."),
            .required("roles", AsOfSchema.roles, "Requested roles of the account, by audience.")))
}

extension Call<AdminContext> {
    /// A role that no setting of the realm ever named is a mistake in writing. One that came later had no accounts yet.
    fileprivate func checkRoles() async throws(Problem) {
        guard text("role") != nil || text("audience") != nil else { return }
        let realm = try realm
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(Realm.stream, after: 0, in: realm)
        }
        var state = Realm()
        var (roles, audiences): (Set<String>, Set<String>) = ([], [])
        for recorded in events {
            guard let event = Realm.Event(recorded.unopened) else { throw Problem(.logDamaged) }
            state.apply(event)
            for (audience, named) in state.settings[SettingCatalogue.roles] {
                audiences.insert(audience)
                roles.formUnion(named.object?.keys ?? [])
            }
        }
        if let role = text("role"), !roles.contains(role) {
            throw Problem(.invalidParameter, "The realm never had this role.", field: "role")
        }
        if let audience = text("audience"), !audiences.contains(audience) {
            throw Problem(
                .invalidParameter, "The realm never had roles for this audience.",
                field: "audience")
        }
    }

    /// The accounts that were given roles at any time up to the moment. Whether an account still had its roles at the
    /// moment is decided by the fold.
    fileprivate func accountsWithRoles(
        at moment: AsOfMoment
    ) async throws(Problem) -> Set<UUID> {
        let realm = try realm
        try await wait(for: .auditTrail, upTo: moment)
        var selection = AuditSelection()
        selection.type = AccountEvent.Form.rolesChanged.name
        let asked = selection
        let pageSize = 1000
        var accounts: Set<UUID> = []
        var position: Int64 = 0
        while position < moment.position {
            let place = position
            let page = try await context.ask(
                AuditEntry.trail, (asked, after: place, limit: pageSize), in: realm)
            for entry in page where entry.position <= moment.position {
                accounts.insert(entry.stream)
            }
            guard let last = page.last, page.count == pageSize else { break }
            position = last.position
        }
        return accounts
    }

    /// Nil for an account without the requested roles.
    fileprivate func roles(of id: UUID, _ state: JSON) -> JSON? {
        guard state["deleted"] == false, let given = GivenRoles(state["roles"]) else { return nil }
        let (role, audience) = (text("role"), text("audience"))
        let chosen = given.byAudience.filter { audience == nil || $0.key == audience }
            .mapValues { $0.filter { role == nil || $0 == role } }
        let left = GivenRoles(chosen)
        guard !left.byAudience.isEmpty, let enabled = state["enabled"] else { return nil }
        return [
            "account": .string(id.description), "enabled": enabled, "roles": left.json,
        ]
    }
}
