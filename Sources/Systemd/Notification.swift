internal import CSystemd

/// What a service tells its supervisor. Without one every call does nothing.
///
/// sd_notify(3)
public enum Notification {
    /// The service answers requests now.
    public static func ready(status: String? = nil) {
        send(status.map { "READY=1\nSTATUS=\(oneLine($0))" } ?? "READY=1")
    }

    /// One line for `systemctl status`.
    public static func status(_ text: String) {
        send("STATUS=\(oneLine(text))")
    }

    /// The service has begun to stop and may take its drain time.
    public static func stopping() {
        send("STOPPING=1")
    }

    /// The service is alive; see `Watchdog`.
    static func watchdog() {
        send("WATCHDOG=1")
    }

    /// A supervisor that cannot be reached changes nothing for the service, so the result, which
    /// says only that, is left unread.
    private static func send(_ state: String) {
        _ = unsafe sd_notify(0, state)
    }

    /// A line feed would begin another assignment of the protocol.
    private static func oneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}

private func microseconds(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : max(0, product &+ attoseconds / 1_000_000_000_000)
}
