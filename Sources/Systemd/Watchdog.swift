internal import CSystemd

/// The supervisor restarts a service that has not pinged for its watchdog time.
///
/// sd_watchdog_enabled(3)
public struct Watchdog: Sendable {
    /// How often to ping: half of the watchdog time, as systemd recommends.
    public let interval: Duration

    /// Nil when systemd does not watch this process.
    public static func configured() -> Watchdog? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 1 else { return nil }
        return Watchdog(interval: .microseconds(Int64(clamping: microseconds / 2)))
    }

    public func ping() {
        Notification.watchdog()
    }

    /// Pings until the task is cancelled, but only while `healthy` says so: a service that runs and
    /// does nothing is restarted too. Runs on the cooperative pool on purpose, because a pool that
    /// hangs is one of the things to notice.
    public func run(while healthy: @Sendable () async -> Bool = { true }) async {
        while !Task.isCancelled {
            if await healthy() { ping() }
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }
}
