import API
import Identity
import Synchronization
import Telemetry
import Values

/// Mails that are kept in this process for developers, instead of being sent: the
/// newest few thousand.
final class Inbox: MailCarrier {
    private typealias Waiting = (
        waiter: UnsafeContinuation<Void, Never>, deadline: ContinuousClock.Instant
    )

    private struct State {
        var letters: [InboxLetter] = []
        /// Where the letters to an address are, oldest first.
        var byAddress: [String: [Int]] = [:]
        /// Number of messages that were dropped from the front.
        var dropped = 0
        /// Those who wait for the first letter to an address.
        var waiting: [String: [Waiting]] = [:]
        /// Whether a task already ends the waits that are overdue.
        var isTimed = false

        func letters(to address: String?, after known: UUID?) -> [InboxLetter] {
            guard let address else {
                return letters.suffix(100).reversed().prefix { $0.id != known }.map(\.self)
            }
            return (byAddress[address] ?? []).suffix(100).reversed()
                .lazy.map { letters[$0 - dropped] }.prefix { $0.id != known }.map(\.self)
        }
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int = 5_000) {
        self.capacity = capacity
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDeliveries.Outcome {
        let received = InboxLetter(letter, id: mail, at: Log.systemTime())
        let waiting = state.withLock { state in
            state.byAddress[letter.to, default: []].append(state.dropped + state.letters.count)
            state.letters.append(received)
            let waiting = state.waiting.removeValue(forKey: letter.to)
            guard state.letters.count > 2 * capacity else { return waiting }
            state.letters.removeFirst(capacity)
            state.dropped += capacity
            state.byAddress = state.byAddress.compactMapValues { numbers in
                let left = numbers.filter { $0 >= state.dropped }
                return left.isEmpty ? nil : left
            }
            return waiting
        }
        for waiting in waiting ?? [] { waiting.waiter.resume() }
        return .taken(by: letter.channel == .mail ? nil : letter.channel)
    }

    /// The same, of an address; where there is none yet, as soon as the first one comes.
    func letters(
        to address: String, after known: UUID?, within limit: Duration
    ) async -> [InboxLetter] {
        let deadline = ContinuousClock.now + limit
        await withUnsafeContinuation { waiter in
            let isThere = state.withLock { state in
                if !state.letters(to: address, after: known).isEmpty { return true }
                state.waiting[address, default: []].append((waiter, deadline))
                if !state.isTimed {
                    state.isTimed = true
                    Task { await endLateWaits() }
                }
                return false
            }
            if isThere { waiter.resume() }
        }
        return letters(to: address, after: known)
    }

    private func endLateWaits() async {
        while true {
            try? await Task.sleep(for: .milliseconds(50))
            let now = ContinuousClock.now
            let (late, isDone) = state.withLock { state in
                let late = state.waiting.values.joined().filter { $0.deadline <= now }
                state.waiting = state.waiting.mapValues { $0.filter { $0.deadline > now } }
                    .filter { !$0.value.isEmpty }
                state.isTimed = !state.waiting.isEmpty
                return (late, !state.isTimed)
            }
            for waiting in late { waiting.waiter.resume() }
            if isDone { return }
        }
    }

    /// Newest first; of one address, or of all. Where one is known already, only what came after it.
    func letters(to address: String?, after known: UUID?) -> [InboxLetter] {
        state.withLock { $0.letters(to: address, after: known) }
    }
}
