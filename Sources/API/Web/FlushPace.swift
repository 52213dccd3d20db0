internal import Synchronization

/// Once a second what was compressed so far is sent as a whole: a client that watches sees it, and what breaks off
/// can be read up to there.
final class FlushPace: Sendable {
    private let last = Mutex(ContinuousClock.now)

    func isDue(_ now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock { last in
            guard now - last > .seconds(1) else { return false }
            last = now
            return true
        }
    }
}
