import Glibc
import Synchronization

/// What became of the output. After something could not be written nothing more is: a result with a hole
/// would pass for a whole one.
final class OutputFate: Sendable {
    private let kept = Mutex<SystemFailure?>(nil)

    /// A reader that went away, as `head` does, has what it wanted: that is no failure.
    var failure: SystemFailure? { kept.withLock { $0?.code == EPIPE ? nil : $0 } }

    var isLost: Bool { kept.withLock { $0 != nil } }

    func lose(by failure: SystemFailure) {
        kept.withLock { $0 = $0 ?? failure }
    }
}

/// Nothing more can be written, so that nothing more needs to be done; the program says why.
struct OutputLost: Error {}
