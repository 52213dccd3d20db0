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
    }

    private let state = Mutex(State())
    private let capacity: Int

    init(capacity: Int = 5_000) {
        self.capacity = capacity
    }

    func carry(_ letter: Letter, as mail: UUID) async -> RecordDelivery.Outcome {
        let received = InboxLetter(letter, id: mail, at: Log.systemTime())
        state.withLock { state in
            state.byAddress[letter.to, default: []].append(state.dropped + state.letters.count)
            state.letters.append(received)
            guard state.letters.count > 2 * capacity else { return }
            state.letters.removeFirst(capacity)
            state.dropped += capacity
            state.byAddress = state.byAddress.compactMapValues { numbers in
                let left = numbers.filter { $0 >= state.dropped }
                return left.isEmpty ? nil : left
            }
        }
        return .taken
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
