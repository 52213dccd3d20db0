internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The notifications of a realm that did not get out yet.
enum NotificationAdminRoutes {
    static let table: [Route<AdminContext>] = [list, resend]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/notifications", id: "listNotifications",
        commandLine: .urd(
            "notification list", examples: "urd notification list --realm flagship --failed"),
        tag: "Flagship",
        summary: "List the notifications that are on their way, and those that failed.",
        detail: """
            What one says stands in no list: it is opened when it is sent. One that no device took \
            goes on as a mail, and is in the list of those. This list follows the log: with `min_position` it waits until it holds everything \
            up to there.
            """,
        right: .realm,
        parameters: [
            .realm, Lists.limit, Lists.after(Cursor.uuid), .minimumPosition,
            Parameter(
                "failed", in: .query, .boolean,
                "Whether to list only notifications that could not be sent."),
        ],
        answer: Lists.answer(
            "NotificationList", of: schema, next: Cursor.uuid, example: example),
        refusals: [.noSuchRealm, .positionNotReached, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        let standing = try await call.wait(for: .notifications)
        let after = call.text("after").flatMap(Cursor.uuid)
        let failedOnly = call.parameters["failed"]?.bool ?? false
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.notifications(
                of: realm, failedOnly: failedOnly, after: after, limit: call.limit + 1)
        }
        if items.isEmpty { try await call.knownLog() }
        return Lists.page(call.limit, of: items, at: standing, item: json) {
            Cursor.encode($0.id)
        }
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

    private static let schema = Schema.named(
        "Notification",
        .object(
            .required("id", Fields.id, "Notification id."),
            .required(
                "category", .text(1...100), "Category of the notification, as its app declares it."),
            .required(
                "position", Fields.position, "Position of the event that asks for the notification."
            ),
            .required("state", .oneOf(["due", "failed"]), "Delivery state."),
            .required("attempts", .integer(0...1000), "Number of delivery attempts."),
            .required(
                "due_at", Fields.time,
                "Time of the next attempt, or at which the notification was given up."),
            .optional(
                "code", .integer(0...999),
                "Last status code of the push provider; 0 if it was not reached.")))

    private static let example: JSON = [
        "id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a16", "category": "balance", "position": 42,
        "state": "failed", "attempts": 2, "due_at": "2026-11-21T01:23:45.123456Z", "code": 503,
    ]

    private static func json(_ notification: DeliveryView) -> JSON {
        var members: JSONObject = [
            "id": .string(notification.id.description), "category": .string(notification.kind),
            "position": .integer(notification.position),
            "state": notification.hasFailed ? "failed" : "due",
            "attempts": .integer(Int64(notification.attempts)),
            "due_at": .string(notification.dueAt.description),
        ]
        members["code"] = notification.code.map { .integer(Int64($0)) }
        return .object(members)
    }
}
