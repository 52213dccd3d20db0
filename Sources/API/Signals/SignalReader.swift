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
    let now: @Sendable (RealmID) -> Timestamp

    /// So many signals wait for their receiver; what comes after them stays in the log.
    static let mostPending = 1_000
    private static let page = 500

    init(_ context: RealmContext) {
        let (mint, clock) = (context.mint, context.clock)
        self.mint = { _ throws(LogFailure) in mint }
        keys = context.keys
        events = context.commands.events
        queries = context.queries
        now = { _ in clock.now() }
    }

    public init(
        mint: @escaping RealmContexts.Mints, keys: TokenKeys, events: any EventLog,
        queries: any RealmQueries, clock: RealmContext.Clock
    ) {
        self.mint = mint
        self.keys = keys
        self.events = events
        self.queries = queries
        let time = RealmTime(clock, events)
        now = { time.now(in: $0) }
    }

    /// Nil where there is no such stream.
    func stream(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> KnownSignalStream? {
        try KnownSignalStream(id, try await events.stream(id, after: 0, in: realm))
    }

    /// Looks at the log from where the stream is, as far as there is room for what comes of it.
    /// - Returns: how far it has looked.
    func prepare(
        _ stream: KnownSignalStream, in realm: RealmID
    ) async throws(LogFailure) -> Int64 {
        guard stream.state.status == .enabled else { return .max }
        while true {
            let head = try await events.head(of: realm)
            let cursor = try await queries.signalCursor(of: stream.id, in: realm)
            let keptTo = min(cursor?.keptTo ?? .max, head.position)
            let from = max(min(cursor?.position ?? 0, keptTo), stream.floor)
            let room = Self.mostPending - (cursor?.pending ?? 0)
            let isSettled =
                cursor.map {
                    $0.version >= stream.version && $0.epoch == head.epoch && $0.position >= from
                } ?? false
            if isSettled, from >= head.position || room <= 0 { return from }
            let found = try await scan(stream, realm, after: from, to: head.position, room: room)
            let step = SignalStep(
                from: cursor, epoch: head.epoch, position: found.position,
                version: stream.version, droppedTo: stream.disabledAt,
                keptTo: cursor?.epoch == head.epoch ? .max : keptTo,
                signals: notices(of: stream, after: cursor?.version ?? 0, realm) + found.signals)
            _ = try await queries.advanceSignals(of: stream.id, in: realm, by: step)
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

    /// One page of the log, or as much of it as there is room for.
    private func scan(
        _ stream: KnownSignalStream, _ realm: RealmID, after from: Int64, to head: Int64, room: Int
    ) async throws(LogFailure) -> (position: Int64, signals: [PendingSignal]) {
        guard from < head, room > 0 else { return (from, []) }
        let page = try await events.events(from: from + 1, limit: Self.page, in: realm)
        // Nothing is stepped over: what is missing was taken away.
        guard !page.isEmpty else { throw .damaged }
        let addressee = try await addressee(of: stream, in: realm)
        var (position, signals): (Int64, [PendingSignal]) = (from, [])
        for event in page {
            guard event.position == position + 1 else { throw .damaged }
            guard signals.count < room else { break }
            for signal in try await self.signals(of: event, for: addressee) {
                signals.append(
                    PendingSignal(
                        jti: SignalName.make(
                            stream: stream.id, position: event.position, command: event.command,
                            type: signal.kind.uri),
                        position: event.position, type: signal.kind.uri,
                        account: signal.subject.user, issuedAt: now(realm)))
            }
            position = event.position
        }
        return (position, signals)
    }
}
