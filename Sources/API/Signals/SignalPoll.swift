internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// One request of a receiver for its signals.
struct SignalPoll: Sendable {
    struct Found: Sendable {
        var tokens: [SignalReader.Ready] = []
        var hasMore = false

        var isEmpty: Bool { tokens.isEmpty && !hasMore }

        /// In the order of the log, which receivers keep that read a JSON object as it is written. That there is no
        /// more is not said (RFC 8936 section 2.3): some receivers know no member but `sets`.
        var bytes: [UInt8] {
            let sets = tokens.map { ready in
                [.string(ready.signal.jti), .string(ready.token)].map { (text: JSON) in
                    text.canonical()
                }.joined(separator: [0x3A])
            }
            return Array((hasMore ? "{\"moreAvailable\":true,\"sets\":{" : "{\"sets\":{").utf8)
                + sets.joined(separator: [0x2C]) + Array("}}".utf8)
        }
    }

    private let context: RealmContext
    private let feed: SignalReader
    private let stream: KnownSignalStream
    private var realm: RealmID { context.place.realm }

    init(_ context: RealmContext, _ pages: SignalPages, _ stream: KnownSignalStream) {
        self.context = context
        self.stream = stream
        feed = SignalReader(context, pages)
    }

    func settle(_ request: PollRequest) async throws(Problem) {
        let now = context.clock.now()
        try await reading { () throws(LogFailure) in
            if !request.confirmed.isEmpty {
                try await context.queries.confirmSignals(
                    request.confirmed, of: stream.id, in: realm, at: now)
            }
            for refused in request.refused {
                try await context.queries.refuseSignal(
                    refused.id, because: refused.reason, of: stream.id, in: realm, at: now)
            }
            try await context.queries.heardOfSignals(of: stream.id, in: realm, at: now)
        }
    }

    func fetch(_ request: PollRequest) async throws(Problem) -> Found {
        let found = try await reading { () throws(LogFailure) -> Found? in
            let found = try await look(stream, request).found
            return try await feed.mayReceive(stream, in: realm) ? found : nil
        }
        guard let found else { throw Problem(.unauthenticated) }
        return found
    }

    /// The answer, as soon as there is something to answer, or the time is over. Nothing is held meanwhile
    /// but the connection of the receiver. The stream and its client are looked at anew each time: the stream may have
    /// been paused, or deleted; a client that was disabled or deleted, or has lost its scopes, is answered at once that there is
    /// nothing, and its next request is refused.
    func wait(_ request: PollRequest, for patience: Duration) async throws -> [UInt8] {
        let end = context.clock.passed() + patience
        while context.clock.passed() < end {
            guard let stream = try await feed.stream(stream.id, in: realm),
                stream.state.settings.delivery == .poll,
                try await feed.mayReceive(stream, in: realm)
            else { break }
            let (found, position) = try await look(stream, request)
            if !found.isEmpty {
                // The client may have been disabled since the look began.
                guard try await feed.mayReceive(stream, in: realm) else { break }
                return found.bytes
            }
            try Task.checkCancellation()
            try await feed.rest(
                stream, past: position, atMost: end - context.clock.passed())
        }
        return Found().bytes
    }

    private func look(
        _ stream: KnownSignalStream, _ request: PollRequest
    ) async throws(LogFailure) -> (found: Found, position: Int64?) {
        guard stream.state.status == .enabled else { return (Found(), nil) }
        let position = try await feed.prepare(stream, in: realm)
        guard request.limit > 0 else { return (Found(), position) }
        var pending = try await context.queries.pendingSignals(
            of: stream.id, in: realm, limit: request.limit + 1)
        var hasMore = pending.count > request.limit
        // That the transmitter changed the stream's status is told before all else.
        let updates = pending.prefix { $0.type == SignalOffer.streamUpdated }
        if !updates.isEmpty {
            hasMore = hasMore || updates.count < pending.count
            pending = Array(updates)
        }
        let made = try await feed.tokens(
            for: Array(pending.prefix(request.limit)), of: stream, in: realm)
        if !made.pointless.isEmpty {
            try await context.queries.confirmSignals(
                made.pointless, of: stream.id, in: realm, at: context.clock.now())
        }
        return (Found(tokens: made.ready, hasMore: hasMore), position)
    }
}
