internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import Values

/// For whom personal fields are opened, and what puts that on record.
struct FeedPersonal: Sendable {
    let subscription: UUID
    let realm: RealmID
    /// The actor that reads.
    let actor: String
    let commands: any CommandPort
    let now: @Sendable () -> Timestamp

    fileprivate func newID() -> UUID {
        var random = SystemRandom()
        return .v7(at: now(), using: &random)
    }

    /// As late as can be: what was erased meanwhile is not sent.
    fileprivate func opened(_ events: [Recorded]) async throws(LogFailure) -> [Recorded] {
        guard let first = events.first else { return [] }
        let read = try await commands.events.events(
            from: first.position, limit: events.count, in: realm)
        return read.map(\.position) == events.map(\.position) ? read : []
    }
}

extension FeedStream {
    /// The events that can be sent, opened: all up to the first whose disclosure is not on record.
    /// None where the record takes a while, or the events cannot be read now.
    /// - Parameter isFull: there is more behind them.
    @inline(never)
    func disclosed(
        _ events: [Recorded], _ selection: FeedSelection, _ isFull: Bool,
        _ personal: FeedPersonal, _ progress: inout Progress, _ writer: BodyStream.Writer
    ) async throws -> [Recorded] {
        var disclosure = progress.disclosure ?? StandingDisclosure(of: personal.subscription)
        defer { progress.disclosure = disclosure }
        for event in events where event.personal == .sealed && selection.wants(event) {
            disclosure.add(.init(position: event.position, subject: event.subject))
        }
        do {
            while let batch = disclosure.batch(at: personal.now(), isFull: isFull) {
                try await disclosure.record(
                    batch, at: personal.now(), in: personal.realm, by: personal.actor,
                    id: personal.newID(), personal.commands)
            }
            let ready = events.prefix { !disclosure.isWaiting($0.position) }
            let opened = try await personal.opened(Array(ready))
            if !opened.isEmpty { return opened }
        } catch {
            // Nothing is lost: it is put on record, or read, again.
            try Task.checkCancellation()
        }
        try await Task.sleep(for: .seconds(1))
        try await beat(&progress, writer)
        return []
    }
}
