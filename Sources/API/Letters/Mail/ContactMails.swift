internal import EventSourcing
internal import Identity
internal import JSON
internal import Mail
internal import Values

/// The mails to the contact of a realm.
enum ContactMails {
    static let rules: [MailRule] = [
        MailRule(SubscriptionEvent.Form.failing.name, SubscriptionEvent.Form.disabled.name) {
            event, _ in
            switch SubscriptionEvent(event) {
            case .failing(let since, _?):
                MailOrder(kind: .subscriberFails(name: "", since: since), isForTheContact: true)
            case .disabled(_, _, _?):
                MailOrder(
                    kind: .subscriberStopped(name: "", at: event.at), isForTheContact: true)
            default: nil
            }
        },
        MailRule(SignalStreamEvent.Form.statusChanged.name) { event, _ in
            guard case .statusChanged(.paused, _, .transmitter, _?) = SignalStreamEvent(event)
            else { return nil }
            return MailOrder(
                kind: .subscriberStopped(name: "", at: event.at), isForTheContact: true)
        },
    ]

    /// What administrators call the subscriber whose stream this is.
    static func name(of stream: [Recorded]) -> String {
        for member in ["name", "description", "client_id"] {
            if let name = stream.compactMap({ $0.open[member]?.string }).last { return name }
        }
        return stream.first?.stream.description ?? ""
    }
}
