public import EventSourcing
internal import Synchronization
internal import Values

/// What the events of each realm amount to, read and worked out once for all the streams of signals of a
/// realm on this node. No sealed field is opened for it.
public final class SignalPages: Sendable {
    /// The newest stretch of a realm's log that was read.
    private struct Window {
        var epochs: EpochHistory
        /// The position up to which no event is held.
        var first: Int64
        var last: Int64
        var sources: [SignalSource]
        var changes: [(position: Int64, stream: UUID)]

        mutating func append(_ page: SignalPage) {
            epochs = page.epochs
            last = page.last
            sources += page.sources
            changes += page.changes
            guard last - first > SignalPages.held else { return }
            first = last - SignalPages.held / 2
            sources.removeAll { $0.event.position <= first }
            changes.removeAll { $0.position <= first }
        }

        func page(after position: Int64) -> SignalPage? {
            guard first <= position, position < last else { return nil }
            return SignalPage(
                epochs: epochs, last: last,
                sources: sources.filter { $0.event.position > position },
                changes: changes.filter { $0.position > position })
        }
    }

    private struct Reading: Hashable {
        let realm: RealmID
        let epoch: Int
        let from: Int64
    }

    private typealias Outcome = Result<SignalPage, LogFailure>

    private static let held: Int64 = 4_096
    private static let page = 500

    private let log: any EventLog
    private let windows = Mutex<[RealmID: Window]>([:])
    private let readings = Mutex<[Reading: Task<Outcome, Never>]>([:])
    private let counts = Mutex<[UUID: Int]>([:])

    public init(_ log: any EventLog) {
        self.log = log
    }

    /// Behind a position: as much as is held, or a page of the log. Those who ask for the same at once
    /// have it read once. The page tells the epoch that it is of.
    func page(
        after position: Int64, of epoch: Int, in realm: RealmID
    ) async throws(LogFailure) -> SignalPage {
        let known = windows.withLock { windows -> SignalPage? in
            guard let window = windows[realm], window.epochs.head.epoch == epoch else { return nil }
            return window.page(after: position)
        }
        if let known { return known }
        let reading = Reading(realm: realm, epoch: epoch, from: position)
        let task = readings.withLock { readings -> Task<Outcome, Never> in
            if let known = readings[reading] { return known }
            let made = Task { await self.outcome(of: reading) }
            readings[reading] = made
            return made
        }
        return try await task.value.get()
    }

    private func outcome(of reading: Reading) async -> Outcome {
        defer { readings.withLock { $0[reading] = nil } }
        do throws(LogFailure) {
            return .success(try await read(reading))
        } catch {
            return .failure(error)
        }
    }

    private func read(_ reading: Reading) async throws(LogFailure) -> SignalPage {
        let realm = reading.realm
        let page = try await log.page(from: reading.from + 1, limit: Self.page, in: realm)
        var (last, sources): (Int64, [SignalSource]) = (reading.from, [])
        var changes: [(position: Int64, stream: UUID)] = []
        // Nothing is stepped over: what is missing was taken away.
        let whole = page.whole(after: last)
        if whole.isEmpty, page.hole(after: last) != nil { throw .damaged }
        for event in whole {
            if let source = try await SignalSource(event, in: log) { sources.append(source) }
            if event.name.hasPrefix("ssf_stream.") || event.name.hasPrefix("client.") {
                changes.append((event.position, event.stream))
            }
            last = event.position
        }
        let found = SignalPage(epochs: page.epochs, last: last, sources: sources, changes: changes)
        keep(found, after: reading.from, of: realm)
        return found
    }

    private func keep(_ page: SignalPage, after position: Int64, of realm: RealmID) {
        windows.withLock { windows in
            let known = windows[realm]
            if known?.epochs.head.epoch == page.epochs.head.epoch, let last = known?.last {
                if last == position { windows[realm]?.append(page) }
                // A stream that is far behind does not put out what all others read.
                if last >= position { return }
            }
            windows[realm] = Window(
                epochs: page.epochs, first: position, last: page.last, sources: page.sources,
                changes: page.changes)
        }
    }

    /// The events at some positions of which signals come, and the epochs of the log.
    func sources(
        at positions: Set<Int64>, in realm: RealmID
    ) async throws(LogFailure) -> (epochs: EpochHistory, sources: [Int64: SignalSource]) {
        let epoch = log.knownEpoch(of: realm)
        var found: [Int64: SignalSource] = [:]
        let window = windows.withLock { $0[realm] }
        if let window, window.epochs.head.epoch == epoch {
            for source in window.sources where positions.contains(source.event.position) {
                found[source.event.position] = source
            }
            if found.count == positions.count { return (window.epochs, found) }
        }
        let missing = positions.filter { found[$0] == nil }
        let page = try await log.page(at: missing.sorted(), in: realm)
        for event in page.events {
            found[event.position] = try await SignalSource(event, in: log)
        }
        return (page.epochs, found)
    }

    // MARK: - What is no event

    /// Has those look who wait for a stream on this node: what was put there is no event of the log.
    func ring(_ stream: UUID) { counts.withLock { $0[stream, default: 0] += 1 } }

    /// How often it was rung for.
    func rings(of stream: UUID) -> Int { counts.withLock { $0[stream] ?? 0 } }
}
