internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Whose personal data the log holds.
enum SubjectRoutes {
    static let table: [Route<AdminContext>] = [erase]

    private static let erase = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/subjects/{subject}/erase", id: "eraseSubject",
        commandLine: .urd("subject erase", examples: "urd subject erase SUBJECT"),
        tag: "Subjects", summary: "Erase a subject: its personal data can never be read again.",
        detail: """
            Destroys the key under which the subject's personal data is sealed in the log. The \
            events stay, and so does the proof that they are unchanged. A client's contacts are \
            sealed under the client's id; events name their subject. An account is refused: it is \
            erased as one, which ends its sessions and gives up its mail address as well. So is \
            the subject that events without a person share. Who is erased already is answered \
            with where the log first says so. This can't be undone.
            """,
        right: .realm,
        parameters: [
            .realm,
            Parameter(
                "subject", in: .path, Fields.id, "Subject id, as in events.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"), .idempotencyKey,
        ],
        answer: .written(
            .ok, "The receipt.",
            .named(
                "Erasure",
                .object(
                    .required("subject", Fields.id, "Id of the erased subject."),
                    .required(
                        "position", Fields.position, "Position of the erasure in the realm's log."))
            ),
            example: ["subject": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "position": 42]),
        refusals: [.noSuchRealm, .noSuchSubject]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        guard let subject = UUID(try call.required("subject")) else {
            throw Problem(.internalError)
        }
        try await call.requireErasable(subject, in: write.realm)
        // What is destroyed cannot come back: a write that will be refused must not get that far.
        _ = try await call.earlier(write)
        try await reading { () throws(LogFailure) in
            try await call.context.destroyKey(write.realm, subject)
        }
        let done = try await call.run(EraseSubject(subject: subject), as: write)
        return Response.json(
            .ok,
            [
                "subject": .string(subject.description),
                "position": .integer(try await call.erasure(of: subject, in: write.realm)),
            ]
        ).at(done)
    }
}

/// No person's data: without them the realm could sign no token, and use no provider.
private let ownSecrets: [UUID] = [
    SigningKeys.stream, Providers.stream, PushProviders.stream, MessageGateways.stream,
    IntegrityKeys.stream, Captcha.stream,
]

extension Call<AdminContext> {
    fileprivate func requireErasable(_ subject: UUID, in realm: RealmID) async throws(Problem) {
        func refusal(_ detail: String) -> Problem {
            Problem(.invalidParameter, detail, field: "subject")
        }
        guard !ownSecrets.contains(subject) else {
            throw refusal("These are keys and secrets of the realm, and no person.")
        }
        try await knownRealm()
        guard try await !isAccount(subject, in: realm) else {
            throw refusal(
                "This is an account, which `urd account erase` erases with all that is its.")
        }
        let standing = try await reading { () throws(LogFailure) in
            try await context.standing(realm, subject)
        }
        switch standing {
        case .own: break
        case .unknown: throw Problem(.noSuchSubject, field: "subject")
        case .shared:
            throw refusal(
                """
                This is no person: all events of a month that are no person's share it, such as \
                those of administration, and none of them could tell any more where it came from.
                """)
        }
    }

    /// Where the log first says that a subject is erased.
    fileprivate func erasure(
        of subject: UUID, in realm: RealmID
    ) async throws(Problem) -> Int64 {
        let events = try await reading { () throws(LogFailure) in
            let log = context.commands.events
            return try await log.stream(subject, after: 0, in: realm)
                + log.stream(Realm.stream, after: 0, in: realm)
        }
        let found = events.first {
            AccountEvent($0) == .erased || RealmEvent($0) == .subjectErased(subject)
        }
        guard let found else { throw Problem(.internalError) }
        return found.position
    }

    /// A subject whose erasure is done is no account any more.
    fileprivate func isAccount(
        _ subject: UUID, in realm: RealmID
    ) async throws(Problem) -> Bool {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(subject, after: 0, in: realm)
        }
        guard events.first.flatMap({ AccountEvent($0) }) != nil else { return false }
        return !events.contains { AccountEvent($0) == .erased }
    }
}
