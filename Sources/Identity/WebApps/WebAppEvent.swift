public import EventSourcing

/// What happens to a web app or a konnector of a realm.
public enum WebAppEvent: FormedEvent {
    case registered(WebAppCard)
    /// The complete description of the web app from now on.
    case updated(WebAppCard)
    case removed

    package enum Form {
        package static let registered = EventForm(
            "web_app.registered", .audit, .administration(.created),
            "A web app or konnector was registered.", .card, make: WebAppEvent.registered)
        package static let updated = EventForm(
            "web_app.updated", .audit, .administration(.updated),
            "The description of the web app was replaced.", .card, make: WebAppEvent.updated)
        package static let removed = EventForm(
            "web_app.removed", .audit, .administration(.removed), "The web app was removed.",
            make: { WebAppEvent.removed })
    }

    public static let forms: EventForms<Self> = [
        Form.registered, Form.updated, Form.removed,
    ]

    public var written: WrittenEvent {
        switch self {
        case .registered(let card): Form.registered(card)
        case .updated(let card): Form.updated(card)
        case .removed: Form.removed()
        }
    }
}

extension Field<WebAppCard> {
    fileprivate static let card = whole(
        WebAppCard.eventFields, write: \.fields, read: { WebAppCard(recorded: $0) })
}
