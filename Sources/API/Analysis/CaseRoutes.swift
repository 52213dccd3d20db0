internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Case files: the events about one account, session, client, network or device, with what proves them to
/// auditors who trust no party.
enum CaseRoutes {
    static let table: [Route<AdminContext>] = [create, get, file, cancel]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/cases", id: "createCaseFile", tag: "Case files",
        summary: "Ask for a case file.",
        detail: """
            The file is made after the answer; `GET …/cases/{case_id}` says when it is ready. \
            `case_file.issued` is in the log before it is handed out, and \
            `personal_data.opened` as well where personal fields are opened. A realm makes two at once.
            """, right: .realm, permission: .eventsRead, parameters: [.realm, .idempotencyKey],
        body: CaseSchema.body,
        answer: .accepted(
            "The case file, which is not made yet.", CaseSchema.shape,
            location: "URL of the case file."),
        refusals: [
            .noSuchRealm, .noSuchEvent, .positionLost, .positionNotReached, .logDamaged,
            .tooManyCases,
        ]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        if call.body["open"]?.bool == true {
            try await call.requirePermission(.eventsOpen, for: "open")
        }
        let (id, cases) = (write.newID("case file"), call.context.cases)
        let moment = try await call.moment(asWritten: call.body["until"]?.string, "until")
        let question = try await call.caseQuestion(until: moment)
        let known = try await reading { () throws(LogFailure) in
            try await cases.job(id, in: write.realm)
        }
        if let known {
            var asked = question
            // Of what was asked for up to now, now is later when it is asked for again.
            if call.body["until"] == nil { asked.until = known.question.until }
            guard known.question == asked else {
                throw Problem(.idempotencyKeyReused, field: "Idempotency-Key")
            }
            return known.response(.accepted)
        }
        let job = CaseFileJob(
            realm: write.realm, id: id, asker: call.caller.actor, question: question,
            epoch: moment.epoch, askedAt: write.origin.at)
        let isTaken = try await reading { () throws(LogFailure) in try await cases.create(job) }
        guard isTaken else {
            throw Problem(
                .tooManyCases,
                "A realm makes \(CaseFileStore.mostAtOnce) case files at once.")
        }
        return job.response(.accepted)
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/cases/{case_id}", id: "getCaseFile", tag: "Case files",
        summary: "Show how far a case file is.", right: .realm, permission: .eventsRead,
        parameters: [.realm, CaseSchema.id],
        answer: .ok("The case file.", CaseSchema.shape),
        refusals: [.noSuchRealm, .noSuchCase]
    ) { call throws(Problem) in try await call.knownCase().response(.ok) }

    private static let file = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/cases/{case_id}/file", id: "downloadCaseFile",
        tag: "Case files", summary: "Download a case file.",
        detail: """
            Lines of JSON (`urd-case/1`), or a page to print. The file is made again from the log for each \
            download, and ends without its last line where it would be another one: \
            `Tests/Interop/verify_log.py case` takes no file without it. For the administrator who asked for it.
            """, right: .realm, permission: .eventsRead,
        parameters: [
            .realm, CaseSchema.id,
            Parameter(
                "form", in: .query, .oneOf(["lines", "page"]),
                "Format of the file: lines of JSON (default), or a page to print."),
        ],
        answer: Answer(
            status: .ok, description: "The file.",
            content: .stream(["application/x-ndjson", "text/html"])),
        refusals: [
            .noSuchRealm, .noSuchCase, .caseNotReady, .caseGone, .notAcceptable, .tooManyFeeds,
            .busy,
        ]
    ) { call throws(Problem) in
        let job = try await call.knownCase()
        guard job.asker == call.caller.actor else {
            throw Problem(
                .forbidden, "The case file is issued to the administrator who asked for it.")
        }
        if job.question.opens { try await call.requirePermission(.eventsOpen, for: "case_id") }
        try job.requireReady(otherwise: .caseNotReady, gone: .caseGone)
        let maker = CaseMaker(index: call.context.queries, cases: call.context.cases, job: job)
        let isUnchanged = try await reading { () throws(LogFailure) in
            try await maker.isUnchanged()
        }
        guard isUnchanged else {
            throw Problem(.caseGone, "Personal data in it was erased. Ask for another one.")
        }
        let isPage = call.text("form") == "page"
        if isPage, job.progress.records > CasePage.mostRecords {
            throw Problem(
                .notAcceptable, "A page has \(CasePage.mostRecords) records at most.", field: "form"
            )
        }
        let download = CaseDownload(
            maker: maker,
            place: try call.context.feeds.place(for: call.context.feedHolder(of: call.caller)))
        let response = isPage ? download.page : download.lines
        // What is opened stands beside text that any caller may have had recorded.
        return job.question.opens ? response : response.compressed(for: call.request)
    }

    private static let cancel = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/cases/{case_id}", id: "cancelCaseFile",
        tag: "Case files", summary: "Cancel a case file: it is not made, or handed out, any more.",
        detail: """
            For the administrator who asked for it, and for keys that are not limited to permissions.
            """,
        right: .realm, permission: .eventsRead,
        parameters: [.realm, CaseSchema.id, .idempotencyKey],
        answer: .done("The case file is cancelled."),
        refusals: [.noSuchRealm, .noSuchCase]
    ) { call throws(Problem) in
        let job = try await call.knownCase()
        try call.requireMayCancel(job, "case file")
        _ = try await reading { () throws(LogFailure) in
            try await call.context.cases.cancel(job.id, in: job.realm)
        }
        return Response(status: .noContent)
    }
}

extension CaseFileJob {
    fileprivate func response(_ status: Status) -> Response {
        let answer = Response.json(status, CaseSchema.shape.json(self))
        return status == .accepted
            ? answer.located("/api/admin/realms/\(realm)/cases/\(id)") : answer
    }
}

extension Call<AdminContext> {
    fileprivate func knownCase() async throws(Problem) -> CaseFileJob {
        let id = try requiredID("case_id")
        return try await found(or: .noSuchCase, isOfSystem: true) { realm throws(LogFailure) in
            try await context.cases.job(id, in: realm)
        }
    }

    /// What the body asks for, where the log has anything about it.
    fileprivate func caseQuestion(until moment: AsOfMoment) async throws(Problem) -> CaseQuestion {
        let realm = try realm
        guard let about = body["about"]?["kind"]?.string.flatMap(IssuedCaseFile.About.init),
            var id = body["about"]?["id"]?.string, let reason = body["reason"]?.string
        else { throw Problem(.internalError) }
        if about == .client {
            let name = id
            let known = try await context.ask(ClientView.byClientID, name, in: realm)
            if let known { id = known.id.description }
        }
        let question = CaseQuestion(
            about: about, id: id, until: moment.position, opens: body["open"]?.bool == true,
            isComplete: body["complete"]?.bool == true, reason: reason)
        guard let references = question.references else {
            throw Problem(.invalidField, "about.id must be an id.", field: "about.id")
        }
        try await wait(for: .eventIndex, upTo: moment)
        let found = try await context.ask(EventReferences.positions, (references, 0, 1), in: realm)
        guard let first = found.value.first, first <= moment.position else {
            throw Problem(.noSuchEvent, "Nothing in the log is about it.")
        }
        return question
    }
}
