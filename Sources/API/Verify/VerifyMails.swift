internal import EventSourcing
internal import Identity
internal import Mail

/// The mails of the profile that tell a person of a new way to sign in.
enum VerifyMails {
    static let rules: [MailRule] = [
        MailRule(TenantMethodEvent.Form.keyEnrolled.name, TenantMethodEvent.Form.pinSet.name) {
            event, _ in
            switch TenantMethodEvent(event) {
            case .keyEnrolled(let key, let account, _, .some):
                MailOrder(
                    kind: .deviceAdded(
                        device: key.deviceName ?? key.deviceType ?? "?", at: event.at),
                    account: account)
            case .pinSet(_, let account, _, _, .some):
                MailOrder(kind: .pinSet(at: event.at), account: account)
            case .keyEnrolled, .keyRemoved, .pinSet, .pinRefused, .pinUsed, .pinRemoved,
                .approvalAwaited, nil:
                nil
            }
        }
    ]
}
