internal import EventSourcing
internal import Identity
internal import Mail

/// The mails of the federation profile.
enum FederationMails {
    static let rules: [MailRule] = [
        MailRule(FederatedDeviceEvent.Form.signedIn.name) { event, _ in
            // On a device that they have used before they are told nothing.
            guard case .signedIn(let account, _, .some, let terms) = FederatedDeviceEvent(event)
            else { return nil }
            return MailOrder(
                kind: .deviceAdded(device: terms.name ?? "?", at: event.at), account: account)
        }
    ]
}
