public import EventSourcing
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
public enum DeviceUseEvent: FormedEvent {
    case began(account: UUID, device: UUID)

    package enum Form {
        package static let began = EventForm(
            "device_use.began", .audit, .object(.other),
            "A person signed in on a device for the first time.", .account,
            .uuid("federated_device", "Device that they signed in on."), make: DeviceUseEvent.began)
    }

    public static let forms: EventForms<Self> = [Form.began]

    public var subject: UUID? {
        switch self {
        case .began(let account, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .began(let account, let device): Form.began(account, device)
        }
    }
}
