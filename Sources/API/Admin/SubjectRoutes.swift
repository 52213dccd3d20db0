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
        tag: "Subjects", summary: "Erases a subject: its personal data can never be read again.",
        detail: """
            Destroys the key under which the subject's personal data is sealed in the log. The \
            events stay, and so does the proof that nobody changed them. A client's contacts are \
            sealed under the client's id; events name their subject. An account is refused: it is \
            erased as one, which ends its sessions and gives up its mail address as well. This \
            can't be undone.
            """,
        right: .realm,
        parameters: [
            .realm,
            Parameter(
                "subject", in: .path, Fields.id, "The subject's id, as its events name it.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"), .idempotencyKey,
        ],
        answer: .written(
            .ok, "The receipt.",
            .named(
                "Erasure",
                .object(
                    .required("subject", Fields.id, "Who was erased."),
                    .required("position", Fields.position, "Where the log says so."))),
            example: ["subject": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "position": 42]),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        guard let subject = UUID(try call.required("subject")) else {
            throw Problem(.internalError)
        }
        // Nobody's data: without it the realm could sign no token any more.
        guard subject != SigningKeys.stream else {
            throw Problem(
                .invalidParameter, "The realm's signing keys are no person.", field: "subject")
        }
        try await call.knownRealm()
        guard try await !call.isAccount(subject, in: write.realm) else {
            throw Problem(
                .invalidParameter,
                "This is an account, which `urd account erase` erases with all that is its.",
                field: "subject")
        }
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
                "position": .integer(done.positions.last),
            ]
        ).at(done)
    }
}

extension Call<AdminContext> {
    /// One whose erasure is done is nobody's any more.
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

extension EraseSubject.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchRealm)
        }
    }
}
