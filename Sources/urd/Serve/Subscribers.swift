import HTTPClient
import ReadModels

/// Those who follow the log of each realm to tell others: webhooks, security signals, and the rules for findings.
struct Subscribers: Sendable {
    private let webhooks: WebhookService
    private let signals: SignalService
    private let findings: FindingService

    init(
        _ store: Store, _ queries: ReadModelQueries, _ options: ServeOptions,
        _ sender: WebhookSender
    ) throws {
        webhooks = WebhookService(store, queries, sender: sender)
        signals = SignalService(
            store, queries, web: try WebClient(SignalService.configuration(options)))
        findings = FindingService(store, queries)
    }

    /// Serves subscribers until the task is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await webhooks.run() }
            group.addTask { try await signals.run() }
            group.addTask { try await findings.run() }
            try await group.next()
            group.cancelAll()
        }
    }
}
