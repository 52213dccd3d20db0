import API
import EventSourcing
import EventStore
import Identity
import ReadModels
import Synchronization
import Values

/// What streams of signals have yet to deliver, as the database keeps it.
final class MemorySignals: Sendable {
    struct Stream {
        var cursor: SignalCursor?
        var pending: [PendingSignal] = []
        var refused: [PendingSignal] = []
        /// Until when single signals wait.
        var waits: [String: Timestamp] = [:]
    }

    let streams = Mutex<[UUID: Stream]>([:])

    func change<Value>(_ stream: UUID, _ body: (inout Stream) -> Value) -> Value {
        streams.withLock { body(&$0[stream, default: Stream()]) }
    }
}

extension MemoryQueries {
    func signalStreams(
        of client: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [SignalStreamView] {
        var found: [SignalStreamView] = []
        for event in try await log.events(from: 1, limit: .max, in: realm)
        where event.name == "ssf_stream.created" {
            let state = try await fold(SignalStream.self, event.stream, realm)
            guard let terms = state.terms, terms.client == client, !state.isDeleted else {
                continue
            }
            found.append(
                SignalStreamView(
                    id: event.stream, client: client, slot: terms.slot,
                    method: state.settings.delivery.method, status: state.status.rawValue))
        }
        return found
    }

    func signalCursor(
        of stream: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SignalCursor? {
        signals.change(stream) { known in
            var cursor = known.cursor
            cursor?.pending = known.pending.count
            return cursor
        }
    }

    func advanceSignals(
        of stream: UUID, in realm: RealmID, by step: SignalStep
    ) async throws(LogFailure) -> Bool {
        signals.change(stream) { known in
            guard known.cursor?.position == step.from?.position else { return false }
            var cursor = known.cursor ?? SignalCursor(epoch: 0, position: 0, heardAt: step.at)
            (cursor.epoch, cursor.position) = (step.epoch, step.position)
            (cursor.version, cursor.keptTo) = (step.version, .max)
            known.cursor = cursor
            let isGone = { (signal: PendingSignal) in
                signal.position <= step.droppedTo
                    || signal.account != nil && signal.position > step.keptTo
            }
            known.pending.removeAll(where: isGone)
            known.refused.removeAll(where: isGone)
            for signal in step.signals
            where !known.pending.contains(where: { $0.jti == signal.jti })
                && !known.refused.contains(where: { $0.jti == signal.jti })
            {
                known.pending.append(signal)
            }
            return true
        }
    }

    func pendingSignals(
        of stream: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [PendingSignal] {
        signals.change(stream) { known in Array(sorted(known.pending).prefix(limit)) }
    }

    func foremostSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, limit: Int
    ) async throws(LogFailure) -> [PendingSignal] {
        signals.change(stream) { known in
            var accounts: Set<UUID?> = []
            let first = sorted(known.pending).filter { accounts.insert($0.account).inserted }
            return Array(
                first.filter { known.waits[$0.jti].map { $0 <= now } ?? true }.prefix(limit))
        }
    }

    private func sorted(_ signals: [PendingSignal]) -> [PendingSignal] {
        signals.sorted { left, right in
            if (left.account == nil) != (right.account == nil) { return left.account == nil }
            let updates = [left, right].map { $0.type == SignalOffer.streamUpdated }
            if updates[0] != updates[1] { return updates[0] }
            return (left.position, left.type) < (right.position, right.type)
        }
    }

    func confirmSignals(
        _ ids: [String], of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { known in
            known.pending.removeAll { ids.contains($0.jti) }
            settle(&known, now)
        }
    }

    func refuseSignal(
        _ id: String, because reason: String, of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { known in
            known.refused += known.pending.filter { $0.jti == id }
            known.pending.removeAll { $0.jti == id }
            settle(&known, now)
        }
    }

    private func settle(_ known: inout MemorySignals.Stream, _ now: Timestamp) {
        known.cursor?.heardAt = now
        known.cursor?.failures = 0
        known.cursor?.failingSince = nil
        known.cursor?.nextAt = nil
    }

    func deferSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp, until time: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { known in
            known.cursor?.failures += 1
            let since = known.cursor?.failingSince ?? now
            known.cursor?.failingSince = since
            known.cursor?.nextAt = time
        }
    }

    func deferSignal(
        _ id: String, of stream: UUID, in realm: RealmID, until time: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { known in
            known.waits[id] = time
            if let index = known.pending.firstIndex(where: { $0.jti == id }) {
                known.pending[index].attempts += 1
            }
        }
    }

    func resumeSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { known in
            known.waits = [:]
            settle(&known, now)
        }
    }

    func heardOfSignals(
        of stream: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) {
        signals.change(stream) { $0.cursor?.heardAt = now }
    }

    func verifySignals(
        of stream: UUID, in realm: RealmID, by signal: PendingSignal, atLeastAfter seconds: Int64
    ) async throws(LogFailure) -> Bool {
        signals.change(stream) { known in
            let now = signal.issuedAt
            if let last = known.cursor?.verifiedAt, now < last.adding(seconds: seconds) {
                return false
            }
            known.cursor?.verifiedAt = now
            known.pending.append(signal)
            return true
        }
    }

    func forgetSignals(of stream: UUID, in realm: RealmID) async throws(LogFailure) {
        signals.streams.withLock { $0[stream] = nil }
    }

    func waitForCommit(
        past position: Int64, in realm: RealmID, atMost time: Duration
    ) async -> Int64 {
        if log.hub.head(of: realm) <= position { await Task.yield() }
        return log.hub.head(of: realm)
    }
}
