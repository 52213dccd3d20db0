internal import Identity
internal import JSON
internal import Synchronization
internal import Values

extension GrantForm {
    static let device = GrantForm([
        .optional("device_code", .text(1...255), "The device's code (RFC 8628).")
    ]) { call throws(Problem) -> DeviceGrant in
        guard let text = call.body["device_code"]?.string else {
            throw Problem(.invalidRequest, "device_code is required.")
        }
        guard let device = call.context.mint.readDeviceCode(text) else {
            throw GrantRefusal.invalidDeviceCode.problem
        }
        guard call.context.polls.isInTime(device, at: call.context.clock.passed()) else {
            throw Problem(.slowDown)
        }
        return DeviceGrant(device: device)
    }
}

/// How often devices ask this process: each that comes too soon has to wait longer from then on. What other
/// nodes were asked the log knows.
final class DevicePolls: Sendable {
    static let interval = DeviceGrant.interval

    private struct Poll: Sendable {
        var last: Duration
        var interval: Int64
    }

    private let polls = Mutex(LeastRecent<UUID, Poll>(capacity: 16_384))

    func isInTime(_ device: UUID, at now: Duration) -> Bool {
        polls.withLock { polls in
            guard var poll = polls.value(of: device) else {
                polls.set(Poll(last: now, interval: Self.interval), for: device)
                return true
            }
            let isInTime = now - poll.last >= .seconds(poll.interval)
            // RFC 8628 section 3.5: five seconds more each time.
            if !isInTime { poll.interval = min(poll.interval + 5, 60) }
            poll.last = now
            polls.set(poll, for: device)
            return isInTime
        }
    }
}
