import Synchronization
import Telemetry

/// Keeps log lines for a test to look at.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var log: Log {
        Log(
            sink: Log.Sink { [self] line, _ in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            })
    }

    func count(_ event: String) -> Int {
        lines.withLock { $0.count { $0.contains("\"\(event)\"") } }
    }
}
