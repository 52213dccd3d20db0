internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The mails of a realm that did not get out yet.
enum MailRoutes {
    static let table: [Route<AdminContext>] = [list, resend]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/mails", id: "listMails",
        commandLine: .urd("mail list", examples: "urd mail list --failed"),
        tag: "Mails",
        summary: "List the mails that are on their way, and those that failed.",
        detail: """
            What a mail says is nowhere: it is made when it is sent, from the event that asks for \
            it. This list follows the log: with `min_position` it waits until it holds everything \
            up to there. The reasons: `host_not_found`, `not_connected`, `timed_out` and \
            `tls_failed` say how far the mail server was reached; it said no to user and password \
            (`login_refused`) or to the mail (`refused`), or hung up (`broken_off`); the mail has \
            an `unusable_address`, is `pointless` because its recipient is gone, or \
            `too_late`; or this server had no room for it (`not_tried`).
            """,
        right: .realm,
        parameters: [
            .realm, Lists.limit, Lists.after(Cursor.uuid), .minimumPosition,
            Parameter(
                "failed", in: .query, .boolean, "Whether to list only mails that could not be sent."
            ),
        ],
        answer: Lists.answer(
            "MailList", of: schema, next: Cursor.uuid, example: example),
        refusals: [.noSuchRealm, .positionNotReached, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        let standing = try await call.wait(for: .mails)
        let after = call.text("after").flatMap(Cursor.uuid)
        let failedOnly = call.parameters["failed"]?.bool ?? false
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.mails(
                of: realm, failedOnly: failedOnly, after: after, limit: call.limit + 1)
        }
        if items.isEmpty { try await call.knownLog() }
        return Lists.page(call.limit, of: items, at: standing, item: json) {
            Cursor.encode($0.id)
        }
    }

    private static let resend = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/mails/{mail_id}/resend", id: "resendMail",
        commandLine: .urd("mail resend", examples: "urd mail resend MAIL"),
        tag: "Mails", summary: "Send a mail that failed again.", right: .realm,
        parameters: [
            .realm,
            Parameter(
                "mail_id", in: .path, Fields.id, "The mail's id.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16"), .idempotencyKey,
        ],
        answer: .gone("It is on its way again."),
        refusals: [.noSuchRealm, .noSuchMail, .mailNotFailed]
    ) { call throws(Problem) in
        try await call.knownRealm()
        let done = try await call.run(
            MailChange.requeue(try call.requiredID("mail_id")),
            as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let schema = Schema.named(
        "Mail",
        .object(
            .required("id", Fields.id, "Mail id."),
            .required("kind", .text(1...100), "Type of the event that asks for the mail."),
            .required("position", Fields.position, "Position of that event in the realm's log."),
            .required("state", .oneOf(["due", "failed"]), "Delivery state."),
            .required("attempts", .integer(0...1000), "Number of delivery attempts."),
            .required(
                "due_at", Fields.time,
                "Time of the next attempt, or at which the mail was given up."),
            .optional(
                "reason", .oneOf(MailFault.allCases.map(\.rawValue)),
                "Fault of the last attempt."),
            .optional(
                "code", .integer(1...999), "SMTP reply code of the mail server, if it answered.")))

    private static let example: JSON = [
        "id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16", "kind": "otp.issued", "position": 42,
        "state": "failed", "attempts": 2, "due_at": "2026-11-21T01:23:45.123456Z",
        "reason": "refused", "code": 550,
    ]

    private static func json(_ mail: DeliveryView) -> JSON {
        var members: JSONObject = [
            "id": .string(mail.id.description), "kind": .string(mail.kind),
            "position": .integer(mail.position), "state": mail.hasFailed ? "failed" : "due",
            "attempts": .integer(Int64(mail.attempts)),
            "due_at": .string(mail.dueAt.description),
        ]
        members["reason"] = mail.reason.map { .string($0.rawValue) }
        if let code = mail.code, code > 0 { members["code"] = .integer(Int64(code)) }
        return .object(members)
    }
}

extension MailChange.RequeueRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchMail)
        case .notFailed: Problem(.mailNotFailed)
        }
    }
}
