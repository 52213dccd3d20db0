public import EventSourcing
public import Values

/// A tenant's own name of a person. The stream follows from the name, so that the person is found by it and it
/// stands in no event.
public struct TenantName: StreamState {
    /// The last account that was given the name.
    public private(set) var account: UUID?

    public init() {}

    public mutating func apply(_ event: TenantNameEvent) {
        switch event {
        case .given(let account, _): self.account = account
        }
    }
}

public enum TenantNameEvent: FormedEvent {
    case given(account: UUID, client: UUID)

    package enum Form {
        package static let given = EventForm(
            "tenant_name.given", .services, .object(.other),
            "A tenant gave the person a name of its own.", .account, .client,
            make: TenantNameEvent.given)
    }

    public static let forms: EventForms<Self> = [Form.given]

    public var written: WrittenEvent {
        switch self {
        case .given(let account, let client): Form.given(account, client)
        }
    }
}
