public import EventSourcing
public import JSON
public import Values

/// That a person has signed in on a device before. Its stream follows from the two.
public struct DeviceUse: StreamState {
    public init() {}

    public mutating func apply(_ event: DeviceUseEvent) {}

    static func stream(of account: UUID, on device: UUID) -> UUID {
        UUID(high: account.high ^ device.low, low: account.low ^ device.high ^ 0x7573_6564)
    }
}

/// What happens between a person and a device.
public enum DeviceUseEvent: Event {
    case began(account: UUID, device: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "device_use.began", .audit, "A person signed in on a device for the first time.",
            [.account, .uuid("federated_device", "Device that they signed in on.")])
    ]

    public var name: String { "device_use.began" }

    public var subject: UUID? {
        switch self {
        case .began(let account, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .began(let account, let device):
            ["account": .uuid(account), "federated_device": .uuid(device)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "device_use.began", let account = fields.uuid("account"),
            let device = fields.uuid("federated_device")
        else { return nil }
        self = .began(account: account, device: device)
    }
}
