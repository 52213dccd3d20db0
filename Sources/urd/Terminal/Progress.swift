import Synchronization

/// Draws a meter on the terminal; does nothing where there is none.
final class Progress: Sendable {
    private let console: Console
    private let meter: Mutex<ProgressMeter>
    private let start = ContinuousClock.now

    init(_ label: String, unit: String, total: Int64? = nil, on console: Console) {
        self.console = console
        meter = Mutex(ProgressMeter(label, unit: unit, total: total))
    }

    /// May be called as often as work is done, from any thread.
    func advance(to done: Int64, of total: Int64? = nil) {
        guard console.errorIsTerminal else { return }
        let now = ContinuousClock.now - start
        meter.withLock { meter in
            guard let line = meter.advance(to: done, total: total, at: now) else { return }
            draw(line)
        }
    }

    /// Replaces the line by its summary and leaves it there.
    func finish() {
        guard console.errorIsTerminal else { return }
        let now = ContinuousClock.now - start
        meter.withLock { meter in
            draw(meter.closing(at: now))
            console.send([10], .error)
        }
    }

    /// Return to the line's begin, write, erase to its end; never wider than the terminal, where
    /// a wrapped line could not be taken back.
    private func draw(_ line: String) {
        let shown = String(Printable.text(line).prefix(max(1, console.errorWidth() - 1)))
        console.send(Array("\r\(shown)\u{1B}[K".utf8), .error)
    }
}
