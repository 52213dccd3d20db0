internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What changed in the state of one thing between two moments: when, and by whom.
enum AsOfDiffRoutes {
    static let table: [Route<AdminContext>] = [account, credentials, sessions, session, client]

    private static let account = route(
        "accounts/{account_id}", id: "diffAccountAsOf", "diff account",
        example: "urd as-of diff account 2026-01-01 now ann@example.org",
        "Show how an account changed between two moments.", AccountRoutes.accountID,
        .noSuchAccount
    ) { call throws(Problem) in .account(try call.requiredID("account_id")) }

    private static let credentials = route(
        "accounts/{account_id}/credentials", id: "diffCredentialsAsOf", "diff credentials",
        example: "urd as-of diff credentials 2026-01-01 now ann@example.org",
        "Show how an account's credentials changed between two moments.",
        AccountRoutes.accountID, .noSuchAccount
    ) { call throws(Problem) in .credentials(of: try call.requiredID("account_id")) }

    private static let sessions = route(
        "accounts/{account_id}/sessions", id: "diffSessionsAsOf", "diff sessions",
        example: "urd as-of diff sessions 2026-01-01 now ann@example.org",
        "Show how an account's sessions changed between two moments.",
        AccountRoutes.accountID, .noSuchAccount
    ) { call throws(Problem) in .sessions(of: try call.requiredID("account_id")) }

    private static let session = route(
        "sessions/{session_id}", id: "diffSessionAsOf", "diff session",
        example: "urd as-of diff session 2026-01-01 now SESSION",
        "Show how a session changed between two moments.", AsOfRoutes.sessionID, .noSuchSession
    ) { call throws(Problem) in .session(try call.requiredID("session_id")) }

    private static let client = route(
        "clients/{client_id}", id: "diffClientAsOf", "diff client",
        example: "urd as-of diff client 2026-01-01 now demo-native",
        "Show how a client changed between two moments.", AsOfRoutes.clientID, .noSuchClient
    ) { call throws(Problem) in .client(try await call.clientStream()) }

    private static func route(
        _ path: String, id: String, _ words: String, example: String, _ summary: String,
        _ parameter: Parameter, _ missing: ProblemKind,
        subject: @escaping @Sendable (Call<AdminContext>) async throws(Problem) -> AsOfSubject
    ) -> Route<AdminContext> {
        Route<AdminContext>(
            .get,
            PathTemplate(
                stringLiteral: "/api/admin/realms/{realm}/as-of/{from}/diff/{to}/\(path)"),
            id: id, commandLine: .urd("as-of " + words, examples: example), tag: "As of",
            summary: summary,
            detail: """
                `difference` compares the two states; `changes` has each event in between that changed \
                something, with who did it. At the earlier moment it need not have been there yet.
                """,
            right: .realm, permission: .historyRead,
            parameters: [
                .realm, AsOfMoment.parameter("from", "Earlier moment."),
                AsOfMoment.parameter("to", "Later moment."), parameter,
            ],
            answer: AsOfSchema.difference,
            refusals: [.noSuchRealm, .positionLost, .positionNotReached, .logDamaged, missing]
        ) { call throws(Problem) in
            let from = try await call.asOf("from")
            let to = try await call.asOf("to")
            guard from.position <= to.position else {
                throw Problem(
                    .invalidParameter,
                    "from is position \(from.position), which is behind to, \(to.position).",
                    field: "from")
            }
            let asked = try await subject(call)
            let events = try await call.events(of: asked, upTo: to)
            let difference = try AsOfDifference(asked.fold, events, behind: from.position)
            var members = difference.members
            members["epoch"] = .integer(Int64(to.epoch))
            members["from"] = .object(from.members)
            members["to"] = .object(to.members)
            return .json(.ok, .object(members))
        }
    }
}
