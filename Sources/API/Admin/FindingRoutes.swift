internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What the rules found in a realm's log.
enum FindingRoutes {
    static let table: [Route<AdminContext>] = [list, get, close]

    private static let list = Route.list(
        "/api/admin/realms/{realm}/findings", id: "listFindings",
        commandLine: .urd(
            "finding list", examples: "urd finding list --state open",
            "urd finding list --rule brute_force --account ann@example.org"), tag: "Findings",
        summary: "List what the rules found, newest first.",
        detail: """
            Of several conditions all hold. A finding rests on events of the log: `positions` says where \
            they stand, and what each rule is about says `docs/analysts/findings.md`.
            """, permission: .auditRead,
        parameters: [
            Parameter(
                "state", in: .query, .oneOf(["open", "closed"]), "State of the findings."),
            Parameter(
                "rule", in: .query, FindingSchema.ruleName, "Rule of the findings.",
                example: "brute_force"),
            Parameter(
                "account", in: .query, Fields.id, "Account of the findings.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"),
            Parameter(
                "source", in: .query, .text(12...12, .some(Characters("-a-zA-Z0-9_"), 12...12)),
                "Network of the findings, by its pseudonym.", example: "q3Jx0a7bTn0y"),
        ], of: FindingSchema.shape, by: .id(\.id)
    ) { call, page throws(Problem) in
        let account = try call.text("account").map { text throws(Problem) in
            guard let id = UUID(text) else { throw Problem(.invalidParameter, field: "account") }
            return id
        }
        let selection = FindingSelection(
            isOpen: call.text("state").map { $0 == "open" },
            rule: try call.text("rule").map { text throws(Problem) in
                try FindingSchema.rule(text)
            }, account: account, source: call.text("source"))
        return try await call.context.ask(
            FindingView.page, (selection, after: page.after, limit: page.limit), in: page.realm)
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/findings/{finding_id}", id: "getFinding",
        commandLine: .urd("finding show", examples: "urd finding show FINDING --realm demo"),
        tag: "Findings", summary: "Show a finding with the positions of the events it rests on.",
        right: .realm, permission: .auditRead, parameters: [.realm, FindingSchema.id],
        answer: .ok("The finding.", FindingSchema.shape),
        refusals: [.noSuchRealm, .noSuchFinding]
    ) { call throws(Problem) in .json(.ok, FindingSchema.shape.json(try await call.knownFinding()))
    }

    private static let close = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/findings/{finding_id}/close", id: "closeFinding",
        commandLine: .urd(
            "finding close",
            examples: "urd finding close FINDING --reason \"It was our own test\" --realm demo"),
        tag: "Findings", summary: "Close a finding.",
        detail: """
            What happened up to then is not raised again; what happens later is. A finding also closes \
            by itself once nothing more of it happens.
            """, right: .realm, parameters: [.realm, FindingSchema.id, .idempotencyKey],
        body: Body(
            schema: .named(
                "FindingClosing",
                .object(
                    .required(
                        "reason",
                        .text(
                            1...CloseFinding.longestReason,
                            Names.showable(CloseFinding.longestReason)),
                        "Reason for closing it, kept in the log beside the caller's name."))),
            example: ["reason": "It was our own test"]),
        answer: .written(.ok, "The finding.", FindingSchema.shape),
        refusals: [.noSuchRealm, .noSuchFinding, .findingClosed]
    ) { call throws(Problem) in
        let realm = try call.realm
        let view = try await call.knownFinding()
        let others = try await reading { () throws(LogFailure) in
            guard let account = view.account else { return [FindingView]() }
            return try await call.context.queries.ask(
                FindingView.page,
                (
                    FindingSelection(isOpen: true, account: account), after: nil,
                    limit: CloseFinding.mostOthers
                ), in: realm
            ).items
        }
        let write = call.write(in: realm)
        let done = try await call.run(
            CloseFinding(
                id: view.id, cause: .administrator, reason: call.body["reason"]?.string,
                others: others.map(\.id)), as: write)
        let folded = try await call.state(Finding.self, of: view.id, after: done)
        let closed = FindingView(
            id: view.id, folded.state, raisedAt: folded.createdAt,
            raisedPosition: view.raisedPosition,
            closing: folded.state.closed.map {
                FindingView.Closing(
                    at: folded.changedAt, cause: $0.cause.rawValue, reason: $0.reason,
                    by: call.caller.actor)
            })
        return Response.json(.ok, FindingSchema.shape.json(closed)).at(done)
    }
}

extension Call<AdminContext> {
    fileprivate func knownFinding() async throws(Problem) -> FindingView {
        let id = try requiredID("finding_id")
        return try await found(FindingView.byID, id, or: .noSuchFinding)
    }
}

extension CloseFinding.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchFinding)
        case .alreadyClosed: Problem(.findingClosed)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
