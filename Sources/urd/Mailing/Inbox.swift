import API
import Identity
import Synchronization
import Telemetry
import Values

/// Mails that are kept in this process for whoever develops against it, instead of being sent: the
/// newest few thousand.
final class Inbox: MailCarrier {
    private struct State {
        var letters: [InboxLetter] = []
        /// Where the letters to an address are, oldest first.
        var byAddress: [String: [Int]] = [:]
        /// How many were dropped from the front.
        var dropped = 0
        /// Those who wait for the first letter to an address.
        var waiting: [String: [UInt64: UnsafeContinuation<Void, Never>]] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int = 5_000) {
        self.capacity = capacity
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDelivery.Outcome {
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
        for waiter in (waiting ?? [:]).values { waiter.resume() }
        return .taken
    }

    /// The same, of an address; where there is none yet, as soon as the first one comes.
    func letters(to address: String, within limit: Duration) async -> [InboxLetter] {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let alarm = Task {
            try? await Task.sleep(for: limit)
            state.withLock { $0.waiting[address]?.removeValue(forKey: id) }?.resume()
        }
        await withUnsafeContinuation { waiter in
            let isThere = state.withLock { state in
                if state.byAddress[address] != nil { return true }
                state.waiting[address, default: [:]][id] = waiter
                return false
            }
            if isThere { waiter.resume() }
        }
        alarm.cancel()
        return letters(to: address)
    }

    /// Newest first; of one address, or of all.
    func letters(to address: String?) -> [InboxLetter] {
        state.withLock { state in
            guard let address else { return Array(state.letters.suffix(100).reversed()) }
            let numbers = state.byAddress[address] ?? []
            return numbers.suffix(100).reversed().map { state.letters[$0 - state.dropped] }
        }
    }
}
