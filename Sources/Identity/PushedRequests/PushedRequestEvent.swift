public import EventSourcing
public import Values

/// What happens to a request that was pushed.
public enum PushedRequestEvent: FormedEvent {
    /// A code was issued for it.
    case used(account: UUID, client: UUID)

    package enum Form {
        package static let used = EventForm(
            "pushed_request.used", .internal, .detail,
            "A code was issued for a pushed authorization request.", .account, .client,
            make: PushedRequestEvent.used)
    }

    public static let forms: EventForms<Self> = [Form.used]

    public var subject: UUID? {
        switch self {
        case .used(let account, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .used(let account, let client): Form.used(account, client)
        }
    }
}
