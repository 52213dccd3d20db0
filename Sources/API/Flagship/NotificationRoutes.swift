internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What apps want an owner to be told.
enum NotificationRoutes {
    static let table: [Route<RealmContext>] = [create]

    private static let create = Route<RealmContext>(
        .post, "/notifications", id: "createNotification", tag: "Flagship",
        summary: "Sends a notification to the owner.",
        detail: """
            On devices, or by mail where no device takes it. `category` is one of those that the app \
            said when it registered. Of a stateful one the same `state` twice is told once; of a \
            collapsible one the later takes the place of the earlier. `at` is when.
            """,
        right: .nothing, voice: .flagship,
        body: Body(
            .jsonAPI, schema: .openObject,
            example: [
                "data": [
                    "type": "io.cozy.notifications",
                    "attributes": [
                        "category": "balance", "category_id": "my-bank",
                        "title": "Your balance is low", "message": "There are 3 euros left.",
                        "priority": "high", "state": "low", "preferred_channels": ["mobile"],
                        "data": ["appName": "Banks"],
                    ],
                ]
            ], maximumBytes: 32 * 1024),
        answer: Answer(
            status: .created, description: "The notification, in JSON:API.",
            content: .json(.openObject, example: ["data": [:]])),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .forbidden, .rateLimited]
    ) { call throws(Problem) in
        let sender = try await call.notificationSender()
        let asked: RequestedNotification
        do throws(RequestedNotification.Fault) {
            asked = try RequestedNotification(call.body)
        } catch {
            return error.response
        }
        return try await call.notify(asked, from: sender)
    }
}

/// The sender of a notification, and its recipient.
struct KnownSender: Sendable {
    let sender: NotificationSender
    /// Of the token that was shown.
    let account: UUID
    /// The kind of sender, in the apps' words.
    let originator: String
    let name: String
    /// The name of the app that it belongs to, where it is known.
    let slug: String?
    let categories: JSON?

    /// What a notification is about, as the apps read it.
    func sourceID(_ asked: RequestedNotification) -> String {
        "cozy/\(originator)/\(slug ?? "")/\(asked.category)/\(asked.content.categoryID)"
    }
}

extension Call<RealmContext> {
    /// The caller, if its token may send notifications.
    func notificationSender() async throws(Problem) -> KnownSender {
        let token = try await profileToken()
        let refused = Problem.said(.forbidden, "Not authorized")
        guard NotificationScope.allows(token.scope), let account = token.session.terms.account,
            let (id, client) = try await installation(token.session.terms.clientID)
        else { throw refused }
        if let opened = token.session.terms.webApp {
            guard let app = try await RealmLookups(context).webApp(opened) else { throw refused }
            return KnownSender(
                sender: .webApp(opened, openedBy: id), account: account,
                originator: app.card.kind.rawValue, name: app.card.name, slug: app.card.slug,
                categories: .object(app.card.notifications))
        }
        return KnownSender(
            sender: .installation(id), account: account, originator: "oauth",
            name: client.metadata?.clientName ?? "",
            slug: client.metadata?.softwareID.flatMap(NotificationScope.slug),
            categories: client.metadata?.notifications)
    }

    func notify(
        _ asked: RequestedNotification, from known: KnownSender
    ) async throws(Problem) -> Response {
        let mint = context.mint
        let about =
            known.sender.stream.bytes
            + Array("\(asked.category)\u{0}\(asked.content.categoryID)".utf8)
        let source = UUID.v8(mint.derive(.notificationSource, about))
        guard
            let state = SecretDigest(
                mint.derive(.notificationState, source.bytes + Array(asked.content.state.utf8)))
        else { throw Problem(.internalError) }
        // A notification that changes nothing does not count towards the rate limit.
        let before = try await RealmLookups(context).folded(NotificationSource.self, source)
        let isNews =
            before.state != state
            || NotificationCategory(asked.category, in: known.categories)?.isStateful != true
        if isNews {
            do throws(Problem) {
                try RateCounter(self).countRealm(.notification)
            } catch {
                guard error.kind == .rateLimited else { throw error }
                var response = Response.jsonAPIError(
                    .tooManyRequests, "Too Many Requests",
                    "Too many notifications were sent in too short a time.")
                for (name, value) in error.headers { response.headers[name] = value }
                return response
            }
        }
        var content = asked.content
        content.sender = known.name
        if let name = content.members["appName"]?.string ?? known.slug, !name.isEmpty {
            content.sender = name
        }
        let (id, now) = (context.newID(), context.clock.now())
        let command = RequestNotification(
            id: id, sender: known.sender, account: known.account, source: source,
            category: asked.category, content: content, state: state, priority: asked.priority,
            channels: asked.channels, due: asked.due, slug: known.slug, now: now)
        switch try await refusable(command, for: known.sender) {
        case .success(.requested):
            return .jsonAPI(.created, asked.document(id, known, now))
        case .success(.unchanged(let last)):
            return .jsonAPI(.created, asked.document(last, known, now))
        case .failure(let refusal): return refusal.response
        }
    }

    /// The outcome of a command, or why it was refused.
    private func refusable<C: AnsweringCommand>(
        _ command: C, for sender: NotificationSender
    ) async throws(Problem) -> Result<C.Outcome, C.Rejection> {
        let caller: Commands.Caller =
            switch sender {
            case .installation(let id): .installation(id)
            case .webApp(let id, openedBy: _): .init("web-app:\(id)")
            }
        return try await Commands(self).attempt(command, as: caller)
    }
}

/// The permission to send, as the apps' scopes express it.
enum NotificationScope {
    private static let type = "io.cozy.notifications"

    /// `*`, or the type alone, with all verbs, or with the one that is needed.
    static func allows(_ scope: [String]) -> Bool {
        scope.contains { name in
            if name == Installation.scope { return true }
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard let first = parts.first, first == type else { return false }
            guard parts.count > 1 else { return true }
            let verbs = parts[1].split(separator: ",")
            return parts.count == 2 && verbs.contains { $0 == "ALL" || $0 == "POST" }
        }
    }

    /// The app that an installation belongs to, where its software says that it does.
    static func slug(_ software: String) -> String? {
        let prefix = "registry://"
        guard software.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = String(software.unicodeScalars.dropFirst(prefix.utf8.count))
        let slug = rest.split(separator: "/").first.map(String.init) ?? ""
        let isPlain = slug.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
        }
        return (1...60).contains(slug.utf8.count) && isPlain ? slug : nil
    }
}

extension RequestNotification.Rejection {
    var response: Response {
        switch self {
        case .notAllowed, .unknownCategory:
            .jsonAPIError(.forbidden, "Forbidden", "Not authorized to send notification")
        case .tooLate: RequestedNotification.Fault.invalid("at").response
        case .invalid(let fault):
            RequestedNotification.Fault.invalid(fault.field).response
        }
    }
}
