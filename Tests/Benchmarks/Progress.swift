import Glibc
import Synchronization

/// One line on a terminal that says what is under way; silent where nobody looks.
final class Progress: Sendable {
    private let isShown = isatty(2) == 1
    private let started = ContinuousClock.now
    private let step = Mutex((figure: "", done: 0, of: 0))

    func begin(_ figure: String, rounds: Int) {
        step.withLock { $0 = (figure, 0, rounds) }
        show("")
    }

    func advance(_ text: String = "") {
        step.withLock { $0.done += 1 }
        show(text)
    }

    func show(_ text: String) {
        guard isShown else { return }
        let (figure, done, total) = step.withLock { $0 }
        let seconds = Int((ContinuousClock.now - started) / .seconds(1))
        draw("\r\u{1B}[K\(seconds) s  \(figure): \(done) of \(total)  \(text)")
    }

    func end() {
        if isShown { draw("\r\u{1B}[K") }
    }

    private func draw(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
