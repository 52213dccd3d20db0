internal import EventSourcing
internal import Identity
internal import JSON
internal import Values

/// An event that receivers may be told of, with what has to be known beside it.
struct SignalSource: Sendable {
    let event: Recorded
    let facts: SignalFacts
    /// What it says to any receiver. New values of claims are not in it: they depend on the receiver.
    let signals: [Signal]

    var kinds: [SignalKind] { SignalTable.rules(for: event.name).map(\.kind) }

    /// Nil where the event says nothing to any receiver.
    init?(_ event: Recorded, in log: any EventLog) async throws(LogFailure) {
        guard !SignalTable.rules(for: event.name).isEmpty else { return nil }
        self.event = event
        facts = try await Self.facts(of: event, in: log)
        signals = SharedSignals.signals(for: event, knowing: facts)
    }

    /// What the event itself does not say stands in what its stream began with.
    private static func facts(
        of event: Recorded, in log: any EventLog
    ) async throws(LogFailure) -> SignalFacts {
        var facts = SignalFacts()
        if event.name == BrowserSessionEvent.Form.opened.name, event.open["line"] != nil {
            facts.formerFactors = try await formerFactors(of: event, in: log)
        }
        if event.name.hasPrefix("account.") || event.open["account"] != nil,
            event.name != PasskeyEvent.Form.removed.name
        {
            return facts
        }
        guard event.version > 1 else { return facts }
        let earlier = try await log.stream(event.stream, after: 0, in: event.realm)
        let about = earlier.last {
            $0.position < event.position && $0.open["account"]?.string != nil
        }
        facts.account = about?.open["account"]?.string.flatMap { UUID($0) }
        let transports = earlier.first?.open["transports"]?.array ?? []
        facts.transports = transports.compactMap(\.string)
        return facts
    }

    /// The session that a browser had before ends by the same command as the next one begins, behind it.
    private static func formerFactors(
        of event: Recorded, in log: any EventLog
    ) async throws(LogFailure) -> [String]? {
        let page = try await log.page(from: event.position + 1, limit: 16, in: event.realm)
        let end = page.events.first {
            $0.command == event.command && $0.name == BrowserSessionEvent.Form.ended.name
        }
        guard let end else { return nil }
        let opened = try await log.stream(end.stream, after: 0, in: event.realm).first
        return opened.map { ($0.open["amr"]?.array ?? []).compactMap(\.string) }
    }
}

/// A stretch of a realm's log, as far as signals come of it.
struct SignalPage: Sendable {
    let epochs: EpochHistory
    /// Up to here the log was looked at.
    let last: Int64
    let sources: [SignalSource]
    /// Where streams of signals changed themselves, and where clients did.
    let changes: [(position: Int64, stream: UUID)]

    /// Whether a stream of signals has to be looked at for it.
    func concerns(_ stream: UUID, of client: UUID, getting kinds: Set<SignalKind>) -> Bool {
        changes.contains { $0.stream == stream || $0.stream == client }
            || sources.contains { $0.kinds.contains(where: kinds.contains) }
    }
}
