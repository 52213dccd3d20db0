import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `A notification of a web app` {
    private let app = UUID(high: 80, low: 5)
    private let notification = UUID(high: 80, low: 6)
    private let source = UUID(high: 80, low: 7)
    private let content = NotificationContent(title: "Low", message: "", sender: "Drive")

    /// An owner who let an app in that opened a web app.
    private func opened(_ members: JSONObject?) async throws -> Scenario {
        let scenario = try await givenOwner(client: .adopted(atOnboarding: false)).given(
            try await registeredInstallation(["notifications": ["own": [:]]]), in: installation)
        guard let members else { return scenario }
        let card = try WebAppCard(
            (["kind": "app", "slug": "drive", "name": "Drive"] as JSONObject).merging(members) {
                $1
            })
        return scenario.given(WebAppEvent.registered(card), in: app)
    }

    private func request(_ category: String = "balance") throws -> RequestNotification {
        RequestNotification(
            id: notification, sender: .webApp(app, openedBy: installation),
            account: Owned.owner, source: source, category: category, content: content,
            state: try digest(1), slug: "drive", now: Owned.now)
    }

    @Test func `a web app's notification comes in its own name, with its declared categories`()
        async throws
    {
        let known = try await opened(["notifications": ["balance": ["stateful": true]]])
        var expected = Decision(
            NotificationEvent.requested(
                NotificationTerms(
                    source: source, account: Owned.owner, originator: "app", sender: app,
                    slug: "drive", category: "balance", priority: .normal,
                    channels: [.mobile, .mail], isCollapsible: false, due: Owned.now), content),
            in: notification)
        expected.append(
            NotificationSourceEvent.moved(to: notification, state: try digest(1)), in: source)
        try await known.when(try request()).then(expected)
        // What the installation said of its own is for the installation.
        try await known.when(try request("own")).thenRejected(.unknownCategory)
        try await opened([:]).when(try request()).thenRejected(.unknownCategory)
    }

    @Test func `a web app's notification is refused once the app or its opener is gone`()
        async throws
    {
        let known = try await opened(["notifications": ["balance": [:]]])
        try await known.given(WebAppEvent.removed, in: app).when(try request())
            .thenRejected(.notAllowed)
        try await known.given(ClientEvent.deleted, in: installation).when(try request())
            .thenRejected(.notAllowed)
        try await opened(nil).when(try request()).thenRejected(.notAllowed)
    }
}
