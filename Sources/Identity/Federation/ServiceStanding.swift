public import EventSourcing
public import Values

/// Whether a service takes a person. Its stream follows from the two.
public struct ServiceStanding: StreamState {
    public private(set) var isRefused = false

    public init() {}

    public mutating func apply(_ event: ServiceStandingEvent) {
        switch event {
        case .refused: isRefused = true
        case .admitted: isRefused = false
        }
    }

    public static func stream(of account: UUID, at service: UUID) -> UUID {
        UUID(high: account.high ^ service.low, low: account.low ^ service.high ^ 0x6665_6465)
    }
}

/// What a service decided about a person.
public enum ServiceStandingEvent: FormedEvent {
    case refused(account: UUID, client: UUID, clientID: String)
    case admitted(account: UUID, client: UUID, clientID: String)

    package enum Form {
        package static let refused = EventForm(
            "service_standing.refused", .audit, .object(.other),
            "A service takes no assertions of a person.", .account, .client, .clientID,
            make: ServiceStandingEvent.refused)
        package static let admitted = EventForm(
            "service_standing.admitted", .audit, .object(.other),
            "A service takes assertions of a person again.", .account, .client, .clientID,
            make: ServiceStandingEvent.admitted)
    }

    public static let forms: EventForms<Self> = [Form.refused, Form.admitted]

    public var subject: UUID? {
        switch self {
        case .refused(let account, _, _), .admitted(let account, _, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .refused(let account, let client, let clientID):
            Form.refused(account, client, clientID)
        case .admitted(let account, let client, let clientID):
            Form.admitted(account, client, clientID)
        }
    }
}
