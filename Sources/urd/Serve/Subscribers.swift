import HTTPClient
import ReadModels

/// What is sent to those who subscribe to a realm: webhooks and security signals.
struct Subscribers: Sendable {
    private let webhooks: WebhookService
    private let signals: SignalService

    init(
        _ store: Store, _ queries: ReadModelQueries, _ options: Service.Options,
        _ sender: WebhookSender
    ) throws {
        webhooks = WebhookService(store, queries, sender: sender)
        signals = SignalService(
            store, queries, web: try WebClient(SignalService.configuration(options)))
    }

    /// Runs until it is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await webhooks.run() }
            group.addTask { try await signals.run() }
            try await group.next()
            group.cancelAll()
        }
    }
}
