internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// The page that a request asks of a list.
struct ListRequest<Key: Sendable>: Sendable {
    /// The system's realm where the path names none.
    let realm: RealmID
    let after: Key?
    /// One item more than the page has: whether it is there tells whether there is a next page.
    let limit: Int
}

extension Route<AdminContext> {
    /// A list in pages: of a realm, or of all realms where the right is to everything.
    static func list<Item, Key>(
        _ path: PathTemplate, id: String, commandLine: CommandWords, tag: String, summary: String,
        detail: String = "", right: Right = .realm, permission: AdminPermission? = nil,
        of shape: Shape<Item>, by order: ListOrder<Item, Key>,
        page: Question<(after: Key?, limit: Int), ListPage<Item>>
    ) -> Route {
        list(
            path, id: id, commandLine: commandLine, tag: tag, summary: summary, detail: detail,
            right: right, permission: permission, parameters: [], of: shape, by: order
        ) { call, request throws(Problem) in
            try await call.context.ask(page, (request.after, request.limit), in: request.realm)
        }
    }

    /// A list with more parameters than realm, limit and cursor. `isOfSystem`: the system's realm has one too.
    static func list<Item, Key>(
        _ path: PathTemplate, id: String, commandLine: CommandWords, tag: String, summary: String,
        detail: String = "", right: Right = .realm, permission: AdminPermission? = nil,
        parameters: [Parameter], isOfSystem: Bool = false,
        of shape: Shape<Item>, by order: ListOrder<Item, Key>, refusals: [ProblemKind] = [],
        page:
            @escaping @Sendable (Call<AdminContext>, ListRequest<Key>) async throws(Problem)
            -> ListPage<Item>
    ) -> Route {
        let hasRealm = right == .realm
        return Route(
            .get, path, id: id, commandLine: commandLine, tag: tag, summary: summary,
            detail: detail, right: right, permission: permission,
            parameters: (hasRealm ? [.realm] : []) + parameters.filter { $0.place == .path }
                + [Lists.limit, Lists.after(order.schema)]
                + parameters.filter { $0.place != .path },
            answer: Lists.answer(of: shape, next: order.schema),
            refusals: (hasRealm ? [.noSuchRealm] : []) + refusals
        ) { call throws(Problem) in
            let request = ListRequest(
                realm: hasRealm ? try call.realm : .system,
                after: call.text("after").flatMap(order.key), limit: call.limit + 1)
            let items = try await page(call, request)
            if items.isEmpty, hasRealm {
                if isOfSystem { try await call.knownLog() } else { try await call.knownRealm() }
            }
            return Lists.page(
                call.limit, of: items, at: items.standing, item: shape.json,
                next: order.cursor)
        }
    }
}

extension Route<AdminContext> {
    /// A list of a realm without pages: of what there are few.
    static func whole<Item>(
        _ path: PathTemplate, id: String, commandLine: CommandWords? = nil, tag: String,
        summary: String, detail: String = "", permission: AdminPermission? = nil,
        parameters: [Parameter] = [], of shape: Shape<Item>, _ count: ClosedRange<Int>,
        _ description: String, refusals: [ProblemKind] = [],
        items: @escaping @Sendable (Call<AdminContext>) async throws(Problem) -> [Item]
    ) -> Route {
        Route(
            .get, path, id: id, commandLine: commandLine, tag: tag, summary: summary,
            detail: detail, right: .realm, permission: permission,
            parameters: [.realm] + parameters,
            answer: Lists.whole(of: shape, count, description),
            refusals: [.noSuchRealm] + refusals
        ) { call throws(Problem) in
            // First, so that the items are no older.
            let standing = try await call.standing()
            return Lists.whole(try await items(call).map(shape.json), at: standing)
        }
    }
}

extension ListPage {
    init(_ items: [Item], at standing: ListStanding) {
        self.init(items, position: standing.position, head: standing.head)
    }

    fileprivate var standing: ListStanding { ListStanding(position: position, head: head) }
}

extension Call<AdminContext> {
    /// What the path names in its realm; a refusal of this kind where it is not there. `isOfSystem`: the system's
    /// realm may have it too.
    func found<Found>(
        or kind: ProblemKind, isOfSystem: Bool = false,
        _ find: (RealmID) async throws(LogFailure) -> Found?
    ) async throws(Problem) -> Found {
        let realm = try realm
        let found = try await reading { () throws(LogFailure) in try await find(realm) }
        guard let found else {
            if isOfSystem { try await knownLog() } else { try await knownRealm() }
            throw Problem(kind)
        }
        return found
    }

    /// The same of what the read models know.
    func found<Input, Found>(
        _ question: Question<Input, Found?>, _ input: Input, or kind: ProblemKind
    ) async throws(Problem) -> Found {
        try await found(or: kind) { realm throws(LogFailure) in
            try await context.queries.ask(question, input, in: realm)
        }
    }
}
