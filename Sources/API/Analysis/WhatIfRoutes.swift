internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What-ifs: a policy that is tried on past sign-ins.
enum WhatIfRoutes {
    static let table: [Route<AdminContext>] = [create, get, result, cancel]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/what-if", id: "createWhatIf", tag: "What-if",
        summary: "Try a policy on past sign-ins.",
        detail: """
            It is tried after the answer; `GET …/what-if/{what_if_id}` says when it is ready. The same policy on \
            the same part of the log has the same result, byte for byte. Nothing before that part is looked at: \
            what it would tell is `unknown`. A realm tries two at once.
            """, right: .realm, permission: .eventsRead, parameters: [.realm, .idempotencyKey],
        body: WhatIfSchema.body,
        answer: .accepted(
            "State of the what-if, which is not ready yet.", WhatIfSchema.shape,
            location: "URL of the what-if."),
        refusals: [
            .noSuchRealm, .invalidPolicy, .invalidFilter, .positionLost, .logDamaged,
            .tooManyWhatIfs,
        ]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let (id, whatIfs) = (write.newID("what if"), call.context.whatIfs)
        let (known, hasRoom) = try await reading { () throws(LogFailure) in
            (
                try await whatIfs.job(id, in: write.realm),
                try await whatIfs.hasRoom(in: write.realm)
            )
        }
        let tooMany = Problem(
            .tooManyWhatIfs, "A realm tries \(WhatIfStore.mostAtOnce) policies at once.")
        // Pseudonyms of many networks take their time.
        guard known != nil || hasRoom else { throw tooMany }
        let (question, epoch) = try await call.whatIfQuestion()
        if let known {
            var asked = question
            // Of what was asked for up to now, now is later when it is asked for again.
            if call.body["to"] == nil { asked.until = known.question.until }
            guard known.question == asked else {
                throw Problem(.idempotencyKeyReused, field: "Idempotency-Key")
            }
            return known.response(.accepted)
        }
        let job = WhatIfJob(
            realm: write.realm, id: id, asker: call.caller.actor, question: question,
            epoch: epoch, askedAt: write.origin.at)
        let isTaken = try await reading { () throws(LogFailure) in try await whatIfs.create(job) }
        guard isTaken else { throw tooMany }
        return job.response(.accepted)
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/what-if/{what_if_id}", id: "getWhatIf", tag: "What-if",
        summary: "Show the progress of a what-if.", right: .realm, permission: .eventsRead,
        parameters: [.realm, WhatIfSchema.id],
        answer: .ok("State of the what-if.", WhatIfSchema.shape),
        refusals: [.noSuchRealm, .noSuchWhatIf]
    ) { call throws(Problem) in try await call.knownWhatIf().response(.ok) }

    private static let result = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/what-if/{what_if_id}/result", id: "getWhatIfResult",
        tag: "What-if", summary: "Show the result of a what-if.",
        detail: "Whole, or not at all. Accounts are named by their ids.", right: .realm,
        permission: .eventsRead, parameters: [.realm, WhatIfSchema.id],
        answer: .ok("The result.", WhatIfSchema.result, example: WhatIfSchema.resultExample),
        refusals: [.noSuchRealm, .noSuchWhatIf, .whatIfNotReady, .whatIfGone]
    ) { call throws(Problem) in
        let job = try await call.knownWhatIf()
        try job.requireReady(otherwise: .whatIfNotReady, gone: .whatIfGone)
        let bytes = try await reading { () throws(LogFailure) in
            try await call.context.whatIfs.result(of: job.id, in: job.realm)
        }
        guard let bytes else { throw Problem(.whatIfGone) }
        var response = Response(status: .ok, headers: Headers(), body: bytes)
        response.headers["Content-Type"] = "application/json"
        return response
    }

    private static let cancel = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/what-if/{what_if_id}", id: "cancelWhatIf",
        tag: "What-if",
        summary: "Cancel a what-if: its result is not made, or handed out, any more.",
        detail: """
            For the administrator who asked for it, and for keys that are not limited to permissions.
            """,
        right: .realm, permission: .eventsRead,
        parameters: [.realm, WhatIfSchema.id, .idempotencyKey],
        answer: .done("The what-if is cancelled."),
        refusals: [.noSuchRealm, .noSuchWhatIf]
    ) { call throws(Problem) in
        let job = try await call.knownWhatIf()
        try call.requireMayCancel(job, "what-if")
        _ = try await reading { () throws(LogFailure) in
            try await call.context.whatIfs.cancel(job.id, in: job.realm)
        }
        return Response(status: .noContent)
    }
}

extension WhatIfJob {
    fileprivate func response(_ status: Status) -> Response {
        let answer = Response.json(status, WhatIfSchema.shape.json(self))
        return status == .accepted
            ? answer.located("/api/admin/realms/\(realm)/what-if/\(id)") : answer
    }
}

extension Problem {
    fileprivate init(_ fault: PolicyFault) {
        self.init(.invalidPolicy, fault.detail, field: "policy\(fault.at)")
        members["pointer"] = .string(fault.at)
    }
}

extension Call<AdminContext> {
    fileprivate func knownWhatIf() async throws(Problem) -> WhatIfJob {
        let id = try requiredID("what_if_id")
        return try await found(or: .noSuchWhatIf, isOfSystem: true) { realm throws(LogFailure) in
            try await context.whatIfs.job(id, in: realm)
        }
    }

    fileprivate func whatIfQuestion() async throws(Problem) -> (WhatIfQuestion, epoch: Int) {
        let realm = try realm
        let written = body["policy"] ?? .null
        let policy: SignInPolicy
        do throws(PolicyFault) {
            policy = try PolicyReader.policy(written) { SourceRange($0)?.count }
        } catch {
            throw Problem(error)
        }
        let filter = try await whatIfFilter()
        let end = try await moment(asWritten: body["to"]?.string, "to")
        var start: Int64 = 0
        if let from = body["from"]?.string {
            start = try await rangeStart(asWritten: from, "from")
        }
        guard start <= end.position else {
            throw Problem(
                .invalidField,
                "from is position \(start + 1), which is behind to, \(end.position).", field: "from"
            )
        }
        guard end.position - start <= WhatIfSchema.mostPositions else {
            throw Problem(
                .invalidField, "At most \(WhatIfSchema.mostPositions) positions are looked at.",
                field: "from")
        }
        let first = try await reading { () throws(LogFailure) in
            try await context.commands.events.page(from: start + 1, limit: 1, in: realm)
        }
        let question = WhatIfQuestion(
            policy: written, sources: try await sources(of: policy), after: start,
            until: end.position, since: first.events.first?.at, filter: filter)
        return (question, end.epoch)
    }

    /// The filter that the job is kept with: no address stands in it.
    private func whatIfFilter() async throws(Problem) -> String? {
        let vocabulary = EventAttributes.ofAttempts
        guard let written = body["filter"]?.string else { return nil }
        let asked = try FilterText.expression(of: written, vocabulary)
        guard asked.comparisons.contains(where: { $0.attribute.source == .stand }) else {
            return written
        }
        let bound = try await bound(asked, vocabulary, field: "filter").text
        _ = try FilterText.expression(of: bound, vocabulary)
        return bound
    }

    /// What the log has in the place of the addresses of a policy.
    private func sources(of policy: SignInPolicy) async throws(Problem) -> [String] {
        guard let addresses = policy.networks?.addresses, !addresses.isEmpty else { return [] }
        RequestScope.current?.noteSubjectSearch()
        let realm = try realm
        let mint = try await reading { () throws(LogFailure) in try await context.mint(realm) }
        return addresses.compactMap(SourceRange.init).flatMap(\.sources).map {
            mint.pseudonym(ofNetwork: $0.network)
        }
    }
}
