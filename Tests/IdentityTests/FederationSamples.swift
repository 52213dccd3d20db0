import EventSourcing
import Identity
import Values

/// What happens in the federation profile.
func federationSamples() -> [any Event] {
    let (account, session) = (UUID(high: 80, low: 1), UUID(high: 80, low: 2))
    let (device, service) = (UUID(high: 80, low: 3), UUID(high: 80, low: 4))
    let (mail, at) = (UUID(high: 80, low: 5), Timestamp(seconds: 1_790_000_000))
    let terms = FederatedDeviceTerms(
        client: service, clientID: "ch.eduid.app.1", type: "phone", system: "iOS 20",
        name: "Ann's phone")
    var issued = FederatedAssertionTerms(
        account: account, session: session, device: device, service: service,
        serviceID: "moodle", party: "ch.eduid.app.1", deviceName: "Ann's phone",
        audience: "https://moodle.example.org/token", issuedAt: at,
        expiresAt: at.adding(seconds: 3600))
    issued.removals = 1
    return [
        FederatedDeviceEvent.asserted(session: session, terms),
        FederatedDeviceEvent.signedIn(account: account, session: session, mail: mail, terms),
        DeviceUseEvent.began(account: account, device: device),
        FederatedAssertionEvent.issued(issued),
        FederatedAssertionEvent.redeemed(
            session: session, account: account, device: device, client: service,
            clientID: "moodle"),
        ServiceStandingEvent.refused(account: account, client: service, clientID: "moodle"),
        ServiceStandingEvent.admitted(account: account, client: service, clientID: "moodle"),
    ]
}
