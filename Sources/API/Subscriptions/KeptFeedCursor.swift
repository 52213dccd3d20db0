internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where a feed begins whose reader's cursor is kept, and what it is sent.
struct KeptFeedCursor {
    let start: LogCursor
    let lease: FeedLease
    let filter: EventFilter
    /// Whom its events are to be about, where the index says so.
    let subjects: EventSubjects?
    let personal: FeedPersonal?

    /// The subscription says these; to say them again would be to say something else.
    static let excluded = [
        "from", "from_time", "type", "not_type", "stream", "account", "client", "to", "shard",
        "filter",
    ]
}

extension Call<AdminContext> {
    /// Takes the subscription that is asked for in hand; nil where none is. A `Last-Event-ID` was looked at
    /// before: a reader that has events which the log lost is told, and then goes on where it confirmed to be.
    func keptCursor(_ history: EpochHistory) async throws(Problem) -> KeptFeedCursor? {
        guard let text = text("subscription") else {
            guard parameters["take_over"] == nil else {
                throw Problem(
                    .invalidParameter, "Only a subscription can be taken over.", field: "take_over")
            }
            return nil
        }
        if let name = KeptFeedCursor.excluded.first(where: { parameters[$0] != nil }) {
            throw Problem(
                .invalidParameter, "A subscription says where it is and what is sent.", field: name)
        }
        let realm = try realm
        guard let id = UUID(text) else {
            throw Problem(.invalidParameter, field: "subscription")
        }
        let view = try await knownSubscription(id)
        let includesPersonal = view.terms.includesPersonal
        if includesPersonal { try await requirePermission(.eventsOpen, for: "subscription") }
        // A HEAD request is sent no events, and so takes the subscription from no reader.
        if request.method == .head { return nil }
        let folded = try await state(Subscription.self, of: id, in: realm)
        let (claim, lease) = try await reading { () throws(LogFailure) in
            try await context.feeds.leases.claim(
                FeedLeaseName(realm, id, reader: newID()),
                from: history.beginning(of: folded.state),
                takingOver: parameters["take_over"]?.bool ?? false,
                context.feedCursors)
        }
        switch claim {
        case .missing: throw Problem(.noSuchSubscription)
        case .held(let until):
            var problem = Problem(
                .subscriptionHeld, "Another reader has it; take_over=true takes it from there.")
            problem.members["held_until"] = .string(until.description)
            throw problem
        case .leased(let cursor):
            guard let lease else { throw Problem(.internalError) }
            // What was confirmed is in this log: the row was restored along with it.
            let position = min(cursor.acknowledged.position, history.head.position)
            return KeptFeedCursor(
                start: LogCursor(epoch: history.head.epoch, position: position), lease: lease,
                filter: folded.state.wanted,
                subjects: folded.state.terms.filter.aboutWhom.map {
                    EventSubjects($0, index: context.queries, realm: realm)
                },
                personal: includesPersonal
                    ? FeedPersonal(
                        subscription: id, realm: realm, actor: write(in: realm).origin.actor,
                        commands: context.commands, now: context.now) : nil)
        }
    }

    /// A subscription whose reader comes for its events.
    func knownSubscription(_ id: UUID) async throws(Problem) -> SubscriptionView {
        let realm = try realm
        let found = try await context.ask(SubscriptionView.byID, id, in: realm)
        guard let found, found.kind == .feed else { throw Problem(.noSuchSubscription) }
        return found
    }
}

extension EpochHistory {
    /// Where a subscription begins that was never read by.
    func beginning(of subscription: Subscription) -> LogCursor {
        LogCursor(
            epoch: head.epoch, position: min(subscription.startsAfter ?? 0, head.position))
    }
}
