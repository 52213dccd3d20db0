internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// The feed for clients of the realm, by an access token of their own.
enum ServiceFeedRoutes {
    static func table(_ feeds: Feeds?) -> [Route<RealmContext>] { [feed(feeds)] }

    private static func feed(_ feeds: Feeds?) -> Route<RealmContext> {
        Route(
            .get, "/api/feed", id: "followServiceEvents", tag: "Feed",
            summary: "Follow the events of the realm that services act on.",
            detail: "Needs the scope `events.read`. The feed ends when the token expires. "
                + FeedRoutes.detail, right: .service, parameters: FeedQuestion.common,
            answer: FeedRoutes.answer,
            refusals: Place.refusals + [
                .insufficientScope, .positionLost, .notAcceptable, .tooManyFeeds, .invalidFilter,
            ]
        ) { call throws(Problem) in
            guard case .service(let session, let scopes, let end) = call.caller else {
                throw Problem(.unauthenticated)
            }
            guard scopes.contains(FeedScope.read) else {
                throw Problem(.insufficientScope, "The token needs the scope \(FeedScope.read).")
            }
            let feeds = try feeds.present
            try feeds.requireRoom()
            var question = try FeedQuestion(call, by: .service)
            let context = call.context
            let realm = context.place.realm
            if call.text("format") == "cloudevents" {
                question.form.cloudSource = context.place.issuer
            }
            let history = try await context.commands.history(of: realm)
            let holder = FeedHolder(owner: session.terms.client, grant: session.id) {
                try await context.live(session.id) != nil
            }
            let place = try feeds.place(for: holder)
            let start = try await question.start.cursor(
                in: history, of: realm, context.commands.events)
            var stream = question.stream(
                from: start, in: realm, head: history.head.position, at: place, nil)
            stream.expiry = FeedExpiry(at: end, now: context.clock.now)
            return stream.response
        }
    }
}
