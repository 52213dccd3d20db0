internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The mails of a realm that did not get out yet.
enum MailRoutes {
    static let table: [Route<AdminContext>] = [list, resend]

    private static let list = Route.list(
        "/api/admin/realms/{realm}/mails", id: "listMails",
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
        parameters: [
            .minimumPosition,
            Parameter(
                "failed", in: .query, .boolean, "Whether to list only mails that could not be sent."
            ),
        ], isOfSystem: true, of: shape, by: .id(\.id),
        refusals: [.positionNotReached, .positionLost]
    ) { call, page throws(Problem) in
        let standing = try await call.wait(for: .mails)
        let failedOnly = call.parameters["failed"]?.bool ?? false
        let items = try await call.context.ask(
            DeliveryView.mails, (failedOnly: failedOnly, after: page.after, limit: page.limit),
            in: page.realm)
        return ListPage(items, at: standing)
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

    private static let shape = Shape<DeliveryView>(
        "Mail",
        .required("id", "Mail id.", \.id, example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16"),
        .required(
            "kind", .text(1...100), "Type of the event that asks for the mail.", \.kind,
            example: .string(MailboxEvent.Form.codeIssued.name)),
        .required(
            "position", Fields.position, "Position of that event in the realm's log.", \.position,
            example: 42),
        .required(
            "state", .oneOf(["due", "failed"]), "Delivery state.",
            { $0.hasFailed ? "failed" : "due" }, example: "failed"),
        .required(
            "attempts", .integer(0...1000), "Number of delivery attempts.", \.attempts, example: 2),
        .required(
            "due_at", "Time of the next attempt, or at which the mail was given up.", \.dueAt),
        .optional(
            "reason", .oneOf(MailFault.allCases.map(\.rawValue)), "Fault of the last attempt.",
            \.reason?.rawValue, example: "refused"),
        .optional(
            "code", .integer(1...999), "SMTP reply code of the mail server, if it answered.",
            { $0.code.flatMap { $0 > 0 ? $0 : nil } }, example: 550))
}

extension MailChange.RequeueRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchMail)
        case .notFailed: Problem(.mailNotFailed)
        }
    }
}
