import API
import EventSourcing
import EventStore
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

/// Whether the clocks agree: this machine's, the database's, which counts, and what is on record.
enum Clocks {
    /// In milliseconds, where it is too much to be the network's way.
    static func difference(_ there: Int64, _ here: Int64) -> Int64? {
        let (difference, _) = there.subtractingReportingOverflow(here)
        let milliseconds = Int64(clamping: difference.magnitude / 1000)
        return milliseconds > 2000 ? milliseconds : nil
    }

    /// Microseconds by which a clock may be behind what is on record before the operator is warned.
    static let allowed: Int64 = 60_000_000

    /// - Parameters:
    ///   - difference: how far this machine's clock is ahead of the database's, in microseconds.
    ///   - latest: the latest time on record, and how far ahead of the database's clock it is.
    static func words(
        difference: Int64?, latest: (realm: RealmID, ahead: Int64)?
    ) -> String? {
        var words: [String] = []
        if let difference, let milliseconds = Self.difference(0, difference) {
            words.append(
                "this machine's clock is \(milliseconds) ms \(difference < 0 ? "behind" : "ahead of")"
                    + " the database's, which counts")
        }
        if let latest, latest.ahead > allowed {
            words.append(
                "the database's clock is \(latest.ahead / 1000) ms behind the last event of "
                    + latest.realm.name)
        }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }
}

extension Store {
    /// How often clocks are compared. A new connection compares them as well.
    private static let round = Duration.seconds(15)

    func now(in realm: RealmID) -> Timestamp { time.now(in: realm) }

    /// The latest time that it is in any realm, for questions about all of them.
    var latestTime: Timestamp {
        let now = clock.now()
        return log.times.furthest.map { max($0.at, now) } ?? now
    }

    var clockState: ComponentState {
        let now = clock.now()
        let latest = log.times.furthest.map {
            (realm: $0.realm, ahead: $0.at.microseconds(since: now))
        }
        // Decisions use the database's clock, not this machine's.
        let words = Clocks.words(difference: clock.difference, latest: latest)
        return ComponentState(
            name: "clock", isReady: true, detail: words, needsAttention: words != nil)
    }

    /// Compares clocks until it is cancelled, and says so when they begin to differ and when they agree
    /// again.
    func watchClocks() async throws {
        let (ahead, error, behind) = clockGauges()
        var told: Bool?
        while true {
            try Task.checkCancellation()
            try? await database.run { [clock] connection throws(Postgres.Failure) in
                try clock.read(connection)
            }
            if let difference = clock.difference {
                ahead.set(Double(difference) / 1_000_000)
                error.set(Double(clock.error ?? 0) / 1_000_000)
                let now = clock.now()
                behind.set(
                    max(0, Double(latestTime.microseconds(since: now)) / 1_000_000))
                let words = clockState.detail
                if words != nil, told != true {
                    lines.warning(
                        "clock.differs",
                        [
                            "milliseconds": .integer(
                                Clocks.difference(0, difference) ?? 0), "why": .string(words ?? ""),
                        ])
                }
                if words == nil, told == true { lines.notice("clock.agrees") }
                told = words != nil
            }
            try await Task.sleep(for: Self.round)
        }
    }

    private func clockGauges() -> (ahead: Gauge, error: Gauge, behind: Gauge) {
        (
            metrics.gauge(
                "urd_clock_ahead_seconds",
                help: "How far this machine's clock is ahead of the database's, which counts."),
            metrics.gauge(
                "urd_clock_error_seconds", help: "How wrong that may be."),
            metrics.gauge(
                "urd_clock_behind_log_seconds",
                help: "How far the database's clock is behind the latest event on record.")
        )
    }
}
