internal import Identity
internal import Synchronization
internal import Values

/// How often devices ask this process: each that comes too soon has to wait longer from then on
/// (back-off). Clients count for themselves: a client that polls for another's device slows no
/// other client. What other nodes were asked the log knows.
final class DevicePolls: Sendable {
    static let interval = DeviceGrant.interval

    private struct Asker: Hashable, Sendable {
        let device: UUID
        let client: UUID
    }

    private struct Poll: Sendable {
        var last: Duration
        var interval: Int64
    }

    private let polls = Mutex(LeastRecent<Asker, Poll>(capacity: 16_384))

    func isInTime(_ device: UUID, of client: UUID, at now: Duration) -> Bool {
        let asker = Asker(device: device, client: client)
        return polls.withLock { polls in
            guard var poll = polls.value(of: asker) else {
                polls.set(Poll(last: now, interval: Self.interval), for: asker)
                return true
            }
            let isInTime = now - poll.last >= .seconds(poll.interval)
            // RFC 8628 section 3.5: five seconds more each time.
            if !isInTime { poll.interval = min(poll.interval + 5, 60) }
            poll.last = now
            polls.set(poll, for: asker)
            return isInTime
        }
    }
}
