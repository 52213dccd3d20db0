import JSON
import Synchronization

/// Where a replay is shown: rows on the output, the clock in the last line of a terminal.
final class ReplayScreen: Sendable {
    private let console: Console
    private let isStepping: Bool
    private let asJSON: Bool
    private let clock = Mutex("")

    init(console: Console, isStepping: Bool, asJSON: Bool) {
        self.console = console
        self.isStepping = isStepping
        self.asJSON = asJSON
    }

    func begin() {
        if !asJSON { console.write(ReplayLine.header) }
    }

    /// False where the reader has closed the output.
    func show(_ bytes: [UInt8]) -> Bool {
        wipe()
        if asJSON {
            console.send(bytes + [0x0A], .output)
        } else {
            console.write(ReplayLine.row(bytes))
        }
        if isStepping {
            console.prompt("[Enter] ")
            // The end of the input ends the steps.
            if console.readLine() == nil { return false }
        }
        do {
            try console.checkOutput()
        } catch {
            return false
        }
        return true
    }

    func tell(_ members: JSONObject) {
        guard console.errorIsTerminal, !asJSON, !isStepping else { return }
        wipe()
        let line = ReplayLine.clock(members)
        clock.withLock { $0 = line }
        console.prompt(line)
    }

    func end(_ members: JSONObject) {
        wipe()
        if !asJSON { console.complain("\(members["events"]?.integer ?? 0) events replayed.") }
    }

    private func wipe() {
        let shown = clock.withLock { line in
            defer { line = "" }
            return line
        }
        guard !shown.isEmpty else { return }
        console.send(
            Array(("\r" + String(repeating: " ", count: shown.count) + "\r").utf8), .error)
    }
}
