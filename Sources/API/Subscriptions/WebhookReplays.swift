internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Events that a webhook is sent again.
extension Call<AdminContext> {
    /// What is not there, and what the webhook does not want, is not sent.
    func requireWanted(_ position: Int64) async throws(Problem) {
        let realm = try realm
        let webhook = try await knownWebhook()
        try await requireRight(to: webhook)
        let earlier = try await reading { () throws(LogFailure) in
            try await context.commands.events.earlier(write(in: realm))
        }
        guard earlier == nil else { return }
        let page = try await reading { () throws(LogFailure) in
            try await context.commands.events.page(from: position, limit: 1, in: realm)
        }
        guard let event = page.events.first, event.position == position else {
            throw Problem(.noSuchEvent)
        }
        let folded = try await state(Subscription.self, of: webhook.id, in: realm)
        let selection = SubscriptionSelection(folded.state)
        var isWanted = selection.wants(event) != false
        if isWanted, let asked = selection.aboutWhom, !selection.undecided(among: [event]).isEmpty {
            let subjects = EventSubjects(asked, index: context.queries, realm: realm)
            // Where the index has not come as far, the worker finds out.
            let found = try? await subjects.positions(
                of: [event], epoch: page.head.epoch, within: .seconds(1))
            isWanted = found.map { $0.contains(position) } ?? true
        }
        guard isWanted else {
            throw Problem(
                .invalidParameter,
                "What the webhook is sent leaves out '\(event.name)' at \(position).",
                field: "position")
        }
    }

    /// The events of a range that the webhook is sent, of these types.
    func replay(
        _ range: ClosedRange<Int64>, types: [String]
    ) async throws(Problem) -> Response {
        let realm = try realm
        let (context, call) = (context, self)
        let asked = SubscriptionReplay.range(
            from: range.lowerBound, to: range.upperBound, types: types)
        return try await sendAgain(asked) { webhook throws(Problem) in
            let filter = webhook.terms.filter
            let named = SubscriptionFilter(
                types: types, reach: types.isEmpty ? .internal : .audit
            ).events
            let names = Set(EventCatalogue.all.map(\.name))
                .filter { filter.events.wants($0) && named.wants($0) }.sorted()
            let next = try await reading { () throws(LogFailure) in
                try await context.deliveries.cut(
                    range, types: names, streams: filter.streams, in: realm)
            }
            let range = next.map { range.lowerBound...($0 - 1) } ?? range
            let chosen = try await call.chosen(of: range, types: names, by: webhook)
            let order = DeliveryOrder(rawValue: webhook.terms.order.rawValue) ?? .stream
            let now = context.time.now(in: realm)
            let count = try await reading { () throws(LogFailure) in
                try await context.deliveries.replay(
                    range, types: names, streams: filter.streams, among: chosen, order: order,
                    to: webhook.id, in: realm, at: now)
            }
            return (count, next)
        }
    }

    /// The rows come first: the event makes the worker look at them. A repeat queues nothing more, and is answered
    /// what is on record.
    func sendAgain(
        _ replay: SubscriptionReplay,
        queue: (SubscriptionView) async throws(Problem) -> (count: Int, next: Int64?)
    ) async throws(Problem) -> Response {
        let write = write(in: try realm)
        let webhook = try await knownWebhook()
        try await requireRight(to: webhook)
        if let earlier = try await earlier(write) { return try await queued(earlier.done) }
        let (count, next) = try await queue(webhook)
        let done = try await run(
            SubscriptionChange.replay(webhook.id, replay: replay, queued: Int64(count), next: next),
            as: write)
        return try await queued(done)
    }

    private func queued(_ done: WriteReceipt) async throws(Problem) -> Response {
        let realm = try realm
        let event = try await reading { () throws(LogFailure) in
            try await context.commands.events.events(
                from: done.positions.first, limit: 1, in: realm
            ).first
        }
        guard let event, case .replayed(_, let count, let next)? = SubscriptionEvent(event) else {
            throw Problem(.internalError)
        }
        var members: JSONObject = ["queued": .integer(count ?? 0)]
        members["next"] = next.map { .integer($0) }
        return Response.json(.ok, .object(members)).at(done)
    }

    /// The positions that the webhook is sent; nil where types and streams say all.
    private func chosen(
        of range: ClosedRange<Int64>, types: [String], by webhook: SubscriptionView
    ) async throws(Problem) -> [Int64]? {
        guard webhook.terms.filter.expression != nil || webhook.terms.format == .ocsf else {
            return nil
        }
        let (realm, context) = (try realm, context)
        let folded = try await state(Subscription.self, of: webhook.id, in: realm)
        let selection = SubscriptionSelection(folded.state)
        let candidates = try await reading { () throws(LogFailure) in
            try await context.deliveries.replayable(
                range, types: types, streams: webhook.terms.filter.streams, in: realm)
        }
        var chosen: [Int64] = []
        var isIndexed = true
        for first in stride(from: 0, to: candidates.count, by: 1_000) {
            let positions = Array(candidates[first..<min(first + 1_000, candidates.count)])
            let page = try await reading { () throws(LogFailure) in
                try await context.commands.events.page(at: positions, in: realm)
            }
            var leftOut: Set<Int64> = []
            let undecided = selection.undecided(among: page.events)
            if isIndexed, let asked = selection.aboutWhom, !undecided.isEmpty {
                let subjects = EventSubjects(asked, index: context.queries, realm: realm)
                // Where the index has not come as far, the worker finds out.
                let found = try? await subjects.positions(
                    of: undecided, epoch: page.head.epoch, within: .seconds(1))
                isIndexed = found != nil
                if let found { leftOut = Set(undecided.map(\.position)).subtracting(found) }
            }
            chosen += page.events.filter {
                selection.wants($0) == true && !leftOut.contains($0.position)
            }.map(\.position)
        }
        return chosen
    }
}
