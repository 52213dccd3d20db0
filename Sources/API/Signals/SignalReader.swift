public import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Finds in the log what is to be delivered to the receivers of security signals. Nothing is kept for a
/// receiver but a place in the log and what it has yet to confirm: see decision 0123.
public struct SignalReader: Sendable {
    typealias Minting = @Sendable (RealmID) async throws(LogFailure) -> TokenMint

    let mint: Minting
    let keys: TokenKeys
    let events: any EventLog
    let queries: any RealmQueries
    let pages: SignalPages
    let now: @Sendable (RealmID) -> Timestamp
    /// A monotonic clock.
    let passed: @Sendable () -> Duration

    /// So many signals wait for their receiver; what comes after them stays in the log.
    static let mostPending = 1_000

    init(_ context: RealmContext, _ pages: SignalPages) {
        let (mint, clock) = (context.mint, context.clock)
        self.mint = { _ throws(LogFailure) in mint }
        keys = context.keys
        events = context.commands.events
        queries = context.queries
        self.pages = pages
        now = { _ in clock.now() }
        passed = clock.passed
    }

    public init(
        mint: @escaping RealmContexts.Mints, keys: TokenKeys, events: any EventLog,
        queries: any RealmQueries, pages: SignalPages, clock: RealmContext.Clock
    ) {
        self.mint = mint
        self.keys = keys
        self.events = events
        self.queries = queries
        self.pages = pages
        passed = clock.passed
        let time = RealmTime(clock, events)
        now = { time.now(in: $0) }
    }

    /// Nil where there is no such stream.
    func stream(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> KnownSignalStream? {
        try await events.signalStream(id, in: realm)
    }

    /// Looks at the log from where the stream is, as far as there is room for what comes of it.
    /// - Returns: the position up to which it has read.
    func prepare(
        _ stream: KnownSignalStream, in realm: RealmID
    ) async throws(LogFailure) -> Int64 {
        guard stream.state.status == .enabled else { return .max }
        while true {
            let head = try await events.head(of: realm)
            let cursor = try await queries.signalCursor(of: stream.id, in: realm)
            let place = LogPlace(stream, cursor, head)
            let room = Self.mostPending - (cursor?.pending ?? 0)
            if place.isSettled, place.from >= head.position || room <= 0 { return place.from }
            let scanned: (position: Int64, signals: [PendingSignal])?
            do throws(LogFailure) {
                scanned = try await scan(stream, realm, after: place.from, to: head, room: room)
            } catch .damaged where (cursor?.pending ?? 0) > 0 {
                // The receiver has all that is before the hole first.
                return place.from
            } catch {
                throw error
            }
            guard let found = scanned else { continue }
            var signals = notices(of: stream, after: cursor?.version ?? 0, realm)
            if let kept = place.newEpochAfter {
                signals.append(newEpoch(of: stream, LogCursor(epoch: head.epoch, position: kept)))
            }
            let step = SignalStep(
                from: cursor, epoch: head.epoch, position: found.position,
                version: stream.version, droppedTo: stream.disabledAt, keptTo: place.keptTo,
                signals: signals + found.signals, at: now(realm))
            _ = try await queries.advanceSignals(of: stream.id, in: realm, by: step)
        }
    }

    /// Where a stream goes on.
    private struct LogPlace {
        let from: Int64
        /// Signals that wait and are of what is behind this are no more: they come again, if they do.
        let keptTo: Int64
        /// A failover or a restore began another epoch. What it lost is in no table any more: the receiver may
        /// have heard of it.
        let newEpochAfter: Int64?
        /// Everything of the stream's own was heeded.
        let isSettled: Bool

        init(_ stream: KnownSignalStream, _ cursor: SignalCursor?, _ head: Head) {
            let kept = min(cursor?.keptTo ?? .max, head.position)
            let replay =
                stream.replays.filter { $0.version > cursor?.version ?? 0 }.map(\.after).min()
                ?? .max
            let from = max(min(cursor?.position ?? 0, kept, replay), stream.floor)
            let isSameEpoch = cursor?.epoch == head.epoch
            self.from = from
            keptTo = min(isSameEpoch ? .max : kept, replay == .max ? .max : from)
            newEpochAfter = cursor == nil || isSameEpoch ? nil : kept
            isSettled =
                cursor.map {
                    $0.version >= stream.version && isSameEpoch && $0.position >= from
                } ?? false
        }
    }

    private func notices(
        of stream: KnownSignalStream, after version: Int, _ realm: RealmID
    ) -> [PendingSignal] {
        stream.notices.filter { $0.version > version && $0.position > stream.disabledAt }
            .map { notice in
                PendingSignal(
                    jti: SignalName.make(
                        stream: stream.id, position: notice.position, command: notice.command,
                        type: notice.type),
                    position: notice.position, type: notice.type, issuedAt: now(realm))
            }
    }

    /// What a receiver is told of a failover or a restore: what it heard of a lost tail did not happen.
    private func newEpoch(of stream: KnownSignalStream, _ start: LogCursor) -> PendingSignal {
        PendingSignal(
            jti: SignalName.make(
                stream: stream.id, position: start.position, command: stream.id,
                type: "\(SignalOffer.streamUpdated) \(start)"),
            position: start.position, type: SignalOffer.streamUpdated,
            state: """
                Epoch \(start.epoch) of the log began after position \(start.position): signals of \
                earlier epochs after it are void.
                """, issuedAt: now(stream.realm))
    }

    /// One page of the log, or as much of it as there is room for. Nil: the log went on in another epoch
    /// meanwhile.
    private func scan(
        _ stream: KnownSignalStream, _ realm: RealmID, after from: Int64, to head: Head, room: Int
    ) async throws(LogFailure) -> (position: Int64, signals: [PendingSignal])? {
        guard from < head.position, room > 0 else { return (from, []) }
        let page = try await pages.page(after: from, of: head.epoch, in: realm)
        guard page.epochs.head.epoch == head.epoch else { return nil }
        let addressee = try await addressee(of: stream, in: realm)
        var signals: [PendingSignal] = []
        for source in page.sources {
            let event = source.event
            // What there is no room for is looked at again later.
            guard signals.count < room else { return (event.position - 1, signals) }
            for signal in try await self.signals(of: source, for: addressee) {
                signals.append(
                    PendingSignal(
                        jti: SignalName.make(
                            stream: stream.id, position: event.position, command: event.command,
                            type: signal.kind.uri),
                        position: event.position, type: signal.kind.uri,
                        account: signal.subject.lane, issuedAt: now(realm)))
            }
        }
        return (page.last, signals)
    }

    // MARK: - Waiting

    /// A look at the database is due after so long, for what happened on other nodes and is no event.
    private static let longestRest = Duration.seconds(5)
    private static let lookout = Duration.milliseconds(250)

    /// Returns once something may have come for a stream: an event that it is told of, a change of its own,
    /// or what was put there on this node; and after a while in any case. It asks no database: the log is
    /// read once for all who wait.
    /// - Parameter position: nil where only the stream's own changes matter.
    func rest(
        _ stream: KnownSignalStream, past position: Int64?, atMost longest: Duration
    ) async throws(LogFailure) {
        let realm = stream.realm
        let end = passed() + min(longest, Self.longestRest)
        let (epoch, rings) = (events.knownEpoch(of: realm), pages.rings(of: stream.id))
        let kinds = position == nil ? [] : stream.kinds
        var seen = await queries.waitForCommit(past: -1, in: realm, atMost: .zero)
        if let position { seen = position }
        while !Task.isCancelled, pages.rings(of: stream.id) == rings {
            let left = end - passed()
            guard left > .zero else { return }
            let head = await queries.waitForCommit(
                past: seen, in: realm, atMost: min(Self.lookout, left))
            guard events.knownEpoch(of: realm) == epoch else { return }
            guard head > seen else { continue }
            let page = try await pages.page(after: seen, of: epoch, in: realm)
            let concerns = page.concerns(stream.id, of: stream.terms.client, getting: kinds)
            guard page.epochs.head.epoch == epoch, !concerns else { return }
            seen = page.last
        }
    }
}

extension EventLog {
    /// Nil where there is no such stream of signals.
    func signalStream(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> KnownSignalStream? {
        try KnownSignalStream(id, try await stream(id, after: 0, in: realm))
    }
}
