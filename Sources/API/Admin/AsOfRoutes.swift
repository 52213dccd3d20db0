internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The state of one thing as it was at a moment, folded from its streams by the code that decides on it.
enum AsOfRoutes {
    static let table: [Route<AdminContext>] = [account, credentials, sessions, session, client]

    private static let moment = AsOfMoment.parameter("moment", "Moment of the state.")

    static let sessionID = Parameter(
        "session_id", in: .path, Fields.id, "The session's id.",
        example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15")

    static let clientID = Parameter(
        "client_id", in: .path, ClientSchema.clientID,
        "OAuth client id, or the stream id of a deleted client.", example: "phone")

    private static let account = route(
        "accounts/{account_id}", id: "getAccountAsOf",
        commandLine: .urd(
            "as-of account", examples: "urd as-of account now ann@example.org"),
        "Show an account as it was.",
        [
            AccountRoutes.accountID,
            OpenRequest.parameter(
                "Whether to unseal what was known of the person; needs a `reason`."),
            OpenRequest.reason(),
        ],
        AsOfSchema.answer(
            "AccountStateAsOf", [.required("account", AsOfSchema.account, "State of the account.")],
            [AsOfSchema.person], example: ["account": exampleAccount]),
        [.noSuchAccount, .missingParameter, .contended]
    ) { call throws(Problem) in
        let id = try call.requiredID("account_id")
        let moment = try await call.asOf("moment")
        let isOpen = try call.isOpening(for: "reason")
        var members = try await call.state(of: .account(id), at: moment)
        if isOpen { members["person"] = try await call.openedPerson(id, at: moment) }
        return .json(.ok, .object(members))
    }

    private static let credentials = route(
        "accounts/{account_id}/credentials", id: "getCredentialsAsOf",
        commandLine: .urd(
            "as-of credentials", examples: "urd as-of credentials now ann@example.org"),
        "Show what an account could be signed in to with.", [AccountRoutes.accountID],
        AsOfSchema.answer(
            "CredentialsAsOf",
            [
                .required("account", AsOfSchema.account, "State of the account."),
                .optional(
                    "passkeys", .map(of: AsOfSchema.passkey), "Passkeys of the account, by id."),
                .optional(
                    "two_factor",
                    .object([
                        .required(
                            "enrolled_at", Fields.time, "Enrolment time of the authenticator app."),
                        .required(
                            "recovery_codes", .integer(0...1000), "Number of unused recovery codes."
                        ),
                    ]), "Authenticator app of the account."),
                .optional(
                    "passphrase",
                    .object([
                        .required("set_at", Fields.time, "Time at which the passphrase was set."),
                        .required(
                            "hashed_on_device", .boolean,
                            "Whether devices hash the passphrase before they send it."),
                    ]), "Passphrase of the account."),
                .optional(
                    "identities",
                    .map(
                        of: .object([.required("provider", .text(1...255), "Name of the provider.")]
                        )),
                    "Identities of the account at providers, by id."),
            ], example: ["account": exampleAccount]), [.noSuchAccount, .positionNotReached]
    ) { call throws(Problem) in
        .json(
            .ok,
            .object(
                try await call.state(
                    of: .credentials(of: try call.requiredID("account_id")),
                    at: try await call.asOf("moment"))))
    }

    private static let sessions = route(
        "accounts/{account_id}/sessions", id: "getSessionsAsOf",
        commandLine: .urd("as-of sessions", examples: "urd as-of sessions now ann@example.org"),
        "Show where an account was signed in.", [AccountRoutes.accountID],
        AsOfSchema.answer(
            "SessionsAsOf",
            [
                .required("account", AsOfSchema.account, "State of the account."),
                .optional(
                    "sessions", .map(of: AsOfSchema.session),
                    "Sessions of the account that had not ended, by id."),
            ],
            [
                .required(
                    "open", .list(of: Fields.id, 0...1_000_000),
                    "Ids of the valid sessions: not expired, and allowed by account, client "
                        + "and origin."
                )
            ], example: ["account": exampleAccount, "sessions": [:]], more: ["open": []]),
        [.noSuchAccount, .positionNotReached]
    ) { call throws(Problem) in
        let moment = try await call.asOf("moment")
        var members = try await call.state(
            of: .sessions(of: try call.requiredID("account_id")), at: moment)
        members["open"] = try await call.openSessions(members["state"], at: moment)
        return .json(.ok, .object(members))
    }

    private static let session = route(
        "sessions/{session_id}", id: "getSessionAsOf",
        commandLine: .urd("as-of session", examples: "urd as-of session now SESSION"),
        "Show a session of a client or a browser as it was.", [sessionID],
        AsOfSchema.answer(
            "SessionStateAsOf",
            [
                .optional(
                    "sessions", .map(of: AsOfSchema.session), "The session; empty if it had ended.")
            ],
            example: ["sessions": [:]]), [.noSuchSession]
    ) { call throws(Problem) in
        .json(
            .ok,
            .object(
                try await call.state(
                    of: .session(try call.requiredID("session_id")),
                    at: try await call.asOf("moment"))))
    }

    private static let client = route(
        "clients/{client_id}", id: "getClientAsOf",
        commandLine: .urd("as-of client", examples: "urd as-of client now demo-native"),
        "Show a client as it was.", [clientID],
        AsOfSchema.answer(
            "ClientStateAsOf", [.required("client", AsOfSchema.client, "State of the client.")],
            example: [
                "client": [
                    "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client_id": "phone",
                    "enabled": true, "deleted": false, "has_secret": false,
                    "secret_rotations": 0, "registered_at": "2026-11-21T01:23:45.123456Z",
                    "metadata": ["client_name": "Phone"],
                ]
            ]), [.noSuchClient]
    ) { call throws(Problem) in
        let moment = try await call.asOf("moment")
        return .json(
            .ok,
            .object(
                try await call.state(of: .client(try await call.clientStream()), at: moment)))
    }

    private static func route(
        _ path: String, id: String, commandLine: CommandWords, _ summary: String,
        _ parameters: [Parameter], _ answer: Answer, _ refusals: [ProblemKind],
        handler: @escaping Route<AdminContext>.Handler
    ) -> Route<AdminContext> {
        Route<AdminContext>(
            .get, PathTemplate(stringLiteral: "/api/admin/realms/{realm}/as-of/{moment}/\(path)"),
            id: id, commandLine: commandLine, tag: "As of", summary: summary,
            detail: """
                The state is folded from the log up to the moment, whose position is in the answer. \
                The clocks of nodes may differ by a minute: a position says more exactly what is meant \
                than a time.
                """,
            right: .realm, permission: .historyRead, parameters: [.realm, moment] + parameters,
            answer: answer, refusals: [.noSuchRealm, .positionLost, .logDamaged] + refusals,
            handler: handler)
    }

    static let exampleAccount: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
        "mailbox": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a11", "confirmed": true, "enabled": true,
        "deleted": false, "erased": false, "roles": ["https://api.example.org": ["editor"]],
        "stamp": 0, "moves": 0, "proof_generation": 0,
        "registered_at": "2026-11-21T01:23:45.123456Z",
    ]
}

extension Call<AdminContext> {
    func state(of subject: AsOfSubject, at moment: AsOfMoment) async throws(Problem) -> JSONObject {
        var fold = subject.fold
        for event in try await events(of: subject, upTo: moment) { try fold.apply(event) }
        var members = moment.members
        members["epoch"] = .integer(Int64(moment.epoch))
        members["state"] = .object(fold.state)
        return members
    }

    /// The stream of the client that the path names. A deleted one has no name any more.
    func clientStream() async throws(Problem) -> UUID {
        let (realm, name) = (try realm, try required("client_id"))
        let known = try await context.ask(ClientView.byClientID, name, in: realm)
        guard let id = known?.id ?? UUID(name) else {
            try await knownRealm()
            throw Problem(.noSuchClient)
        }
        return id
    }

    /// What was known of the person at a moment, for a caller whose request for it is on record.
    fileprivate func openedPerson(
        _ account: UUID, at moment: AsOfMoment
    ) async throws(Problem) -> JSON {
        try await disclose(.person, of: [account], for: text("reason"))
        let events = try await events(of: account).filter { $0.position <= moment.position }
        return person(KnownPerson(events))
    }
}
