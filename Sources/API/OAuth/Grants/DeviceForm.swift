internal import Identity
internal import JSON
internal import Synchronization
internal import Values

extension GrantForm {
    /// - Parameter polls: when each device asked last at this node.
    static func device(_ polls: DevicePolls) -> GrantForm {
        GrantForm([
            .optional("device_code", .text(1...255), "Device code (RFC 8628).")
        ]) { call throws(Problem) -> DeviceGrant in
            guard let text = call.body["device_code"]?.string else {
                throw Problem(.invalidRequest, "device_code is required.")
            }
            guard let device = call.context.mint.readDeviceCode(text) else {
                throw GrantRefusal.invalidDeviceCode.problem
            }
            let isInTime = polls.isInTime(
                device, of: try call.caller.client.id, at: call.context.clock.passed())
            return DeviceGrant(device: device, isTooSoon: !isInTime)
        }.held { call in
            call.body["device_code"]?.string.flatMap(call.context.mint.readDeviceCode)
                .map { "device \($0)" }
        }
    }
}
