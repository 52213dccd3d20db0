import Systemd
import Telemetry

extension Log {
    /// Where and how this process logs.
    init(_ settings: Settings) {
        let threshold = Level(settings[Settings.logLevel]) ?? .info
        let toJournal = settings[Settings.logFormat] == "journal" || Journal.receives()
        self.init(
            threshold: threshold,
            sink: toJournal
                ? Sink { line, level in Journal.write(line, priority: level.priority) }
                : .standardError)
    }
}
