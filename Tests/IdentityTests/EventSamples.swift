import EventSourcing
import Identity
import JSON
import Values

/// Notifications, push providers and webhooks.
func notificationSamples() throws -> [any Event] {
    let terms = NotificationTerms(
        source: host, account: app, originator: "oauth", sender: client, slug: "banks",
        category: "balance", priority: .high, channels: [.mobile, .mail], isCollapsible: true,
        due: noon)
    let content = NotificationContent(
        title: "Your balance is low", message: "Three euros.", members: ["appName": "Banks"],
        categoryID: "my-bank", state: "low", sender: "Banks")
    return [
        NotificationEvent.requested(terms, content),
        NotificationEvent.pushed(attempt: 1, .dedicated, [client]),
        NotificationEvent.mailed(
            attempt: 1, mail: key, account: app,
            NotificationContent(title: "Low", message: "Three euros.", sender: "Banks")),
        NotificationEvent.deferred(attempt: 1, until: noon, code: 503),
        NotificationEvent.failed(attempt: 2, .notTaken, code: 404),
        NotificationEvent.superseded(by: client), NotificationEvent.requeued,
        NotificationSourceEvent.moved(to: client, state: try digest(1)),
        PushProviderEvent.set(
            .firebase(
                FirebaseProvider(
                    project: "demo", email: "push@demo.example", keyID: "k1",
                    privateKey: "AAAA"))),
        PushProviderEvent.set(
            .apple(
                AppleProvider(team: "TEAM", keyID: "KEY", privateKey: "AAAA", topic: "org.example"))
        ), PushProviderEvent.removed(.apple),
        SubscriptionEvent.created(
            .webhook,
            SubscriptionTerms(
                name: "CRM", description: "Leads", url: "https://crm.example.org/urd",
                filter: SubscriptionFilter(
                    types: ["account.*"], excluded: ["account.erased"], streams: [account],
                    reach: .audit, expression: "actor pr"), format: .cloudEvents,
                includesPersonal: true, order: .strict,
                signature: .both, headers: ["Authorization": "Basic AA"]),
            secret: SubscriptionSecret(shared: Array(repeating: 1, count: 32)), startsAfter: 7,
            slot: 3),
        SubscriptionEvent.created(
            .feed,
            SubscriptionTerms(
                name: "Index", url: "", filter: SubscriptionFilter(types: ["account.*"])),
            secret: nil, startsAfter: 0),
        SubscriptionEvent.changed(
            SubscriptionTerms(
                name: "CRM", description: "Leads", url: "https://b.example.org/",
                filter: SubscriptionFilter(
                    excluded: ["session.*"], streams: [app], expression: "type pr"),
                format: .ocsf, includesPersonal: true, headers: ["X-Team": "crm"])),
        SubscriptionEvent.paused, SubscriptionEvent.resumed(after: nil),
        SubscriptionEvent.resumed(after: 9),
        SubscriptionEvent.disabled(.gone, position: 4, mail: key),
        SubscriptionEvent.halted(position: 6, reason: "it is missing in the log"),
        SubscriptionEvent.failing(since: Timestamp(seconds: 1_800_000_000), mail: key),
        SubscriptionEvent.secretRotated(
            SubscriptionSecret(shared: Array(repeating: 3, count: 32)),
            oldEnds: Timestamp(seconds: 1_800_000_000)),
        SubscriptionEvent.replayed(.range(from: 1, to: 9, types: ["account.*"]), queued: 3),
        SubscriptionEvent.replayed(.givenUp, queued: nil),
        SubscriptionEvent.replayed(
            .range(from: 1, to: 300_000, types: []), queued: 100_000, next: 200_001),
        SubscriptionEvent.tested(
            SubscriptionTest(
                status: 204, outcome: "delivered", milliseconds: 12,
                at: Timestamp(seconds: 1_800_000_000))),
        SubscriptionEvent.deleted,
        SubscriptionEvent.givenUp(
            GivenUpDelivery(position: 5, type: "account.erased", attempts: 10, status: 500)),
    ]
}

/// Streams of security signals.
func signalSamples() -> [any Event] {
    [
        SignalStreamEvent.created(
            SignalTerms(
                client: client, clientID: "siem", issuer: "https://id.example.org", slot: 3,
                defaultSubjects: .none),
            SignalSettings(
                requested: [SignalKind.sessionRevoked.uri],
                delivery: .push(
                    endpoint: "https://siem.example.org/signals", authorization: "Bearer b"),
                description: "All sessions")),
        SignalStreamEvent.changed(SignalSettings()),
        SignalStreamEvent.changed(
            SignalSettings(
                requested: ["urn:a"],
                delivery: .push(
                    endpoint: "https://siem.example.org/signals", authorization: "Bearer b"),
                description: "All sessions")),
        SignalStreamEvent.statusChanged(.paused, reason: "Maintenance", by: .receiver),
        SignalStreamEvent.statusChanged(.enabled, reason: nil, by: .receiver),
        SignalStreamEvent.statusChanged(.paused, reason: "Silence", by: .transmitter, mail: client),
        SignalStreamEvent.subjectAdded(.sub("a")), SignalStreamEvent.subjectRemoved(.mailbox(app)),
        SignalStreamEvent.replayed(after: 48_211), SignalStreamEvent.deleted,
    ]
}

func removalSamples() -> [any Event] {
    let stamp = SecurityStamp(number: 1, removals: 1)
    var terms = sessionTerms()
    terms.stamp = stamp
    let approval = DeviceApproval(
        account: account, stamp: stamp, factors: [.passkey], signedInAt: noon, at: noon)
    let opening = SessionCodeTerms(
        account: account, stamp: stamp, opener: Opener(installation: client),
        factors: [.passphrase], expiresAt: noon)
    return [
        AccountEvent.accessRemoved(.client(client), number: 1),
        AccountEvent.accessRemoved(.device(code), number: 2),
        AccountEvent.accessRemoved(.browser(code, isOffline: false), number: 3),
        AccountEvent.accessRemoved(.browser(code, isOffline: true), number: 4),
        AccountEvent.deletionScheduled(due: noon, isAdministrators: true),
        SessionEvent.opened(terms), DeviceEvent.approved(approval),
        SessionCodeEvent.issued(opening),
    ]
}
