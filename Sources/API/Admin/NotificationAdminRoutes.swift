internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The notifications of a realm that did not get out yet.
enum NotificationAdminRoutes {
    static let table: [Route<AdminContext>] = [list, resend]

    private static let list = Route.list(
        "/api/admin/realms/{realm}/notifications", id: "listNotifications",
        commandLine: .urd(
            "notification list", examples: "urd notification list --realm flagship --failed"),
        tag: "Flagship",
        summary: "List the notifications that are on their way, and those that failed.",
        detail: """
            What one says stands in no list: it is opened when it is sent. One that no device took \
            goes on as a mail, and is in the list of those. This list follows the log: with `min_position` it waits until it holds everything \
            up to there.
            """,
        parameters: [
            .minimumPosition,
            Parameter(
                "failed", in: .query, .boolean,
                "Whether to list only notifications that could not be sent."),
        ], isOfSystem: true, of: shape, by: .id(\.id),
        refusals: [.positionNotReached, .positionLost]
    ) { call, page throws(Problem) in
        let standing = try await call.wait(for: .notifications)
        let failedOnly = call.parameters["failed"]?.bool ?? false
        let items = try await call.context.ask(
            DeliveryView.notifications,
            (failedOnly: failedOnly, after: page.after, limit: page.limit), in: page.realm)
        return ListPage(items, at: standing)
    }

    private static let resend = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/notifications/{notification_id}/resend",
        id: "resendNotification",
        commandLine: .urd(
            "notification resend", examples: "urd notification resend NOTIFICATION --realm flagship"
        ),
        tag: "Flagship", summary: "Send a notification that failed again.", right: .realm,
        parameters: [
            .realm,
            Parameter(
                "notification_id", in: .path, Fields.id, "The notification's id.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16"), .idempotencyKey,
        ],
        answer: .gone("It is on its way again."),
        refusals: [.noSuchRealm, .noSuchNotification, .notificationNotFailed]
    ) { call throws(Problem) in
        try await call.knownRealm()
        let done = try await call.run(
            NotificationChange.requeue(try call.requiredID("notification_id")),
            as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<DeliveryView>(
        "Notification",
        .required("id", "Notification id.", \.id, example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16"),
        .required(
            "category", .text(1...100), "Category of the notification, as its app declares it.",
            \.kind, example: "balance"),
        .required(
            "position", Fields.position, "Position of the event that asks for the notification.",
            \.position, example: 42),
        .required(
            "state", .oneOf(["due", "failed"]), "Delivery state.",
            { $0.hasFailed ? "failed" : "due" }, example: "failed"),
        .required(
            "attempts", .integer(0...1000), "Number of delivery attempts.", \.attempts, example: 2),
        .required(
            "due_at", "Time of the next attempt, or at which the notification was given up.",
            \.dueAt),
        .optional(
            "code", .integer(0...999),
            "Last status code of the push provider; 0 if it was not reached.", \.code,
            example: 503))
}
