import EventSourcing
import Identity
import JSON
import Testing
import Values

@testable import urd

@Suite struct `Where webhooks are sent` {
    private func outcome(of url: String) async throws -> String {
        let sender = try WebhookSender(
            Service.Options(), keys: nil, now: { Timestamp(seconds: 1000) })
        let secret = try #require(
            SubscriptionSecret(
                shared: Array(repeating: 1, count: 32)))
        var subscription = Subscription()
        subscription.apply(
            .created(
                .webhook, SubscriptionTerms(name: "a", url: url), secret: secret,
                startsAfter: nil))
        let message = WebhookMessage(
            id: "test_1", type: "urd.test", at: Timestamp(seconds: 1000), data: [:])
        return await sender.send(message, to: subscription, in: .system).outcome
    }

    @Test(arguments: [
        "https://127.0.0.1:1/", "https://localhost:1/", "https://[::1]:1/",
        "https://[::ffff:127.0.0.1]:1/", "https://[64:ff9b::7f00:1]:1/", "https://10.0.0.1:1/",
        "https://169.254.169.254/latest", "https://100.64.0.1:1/", "https://[fd00::1]:1/",
    ])
    func `no address is called that is not public`(_ url: String) async throws {
        #expect(try await outcome(of: url) == "not_public")
    }

    @Test func `nothing is sent without TLS`() async throws {
        #expect(try await outcome(of: "http://127.0.0.1:1/") == "invalid_request")
    }
}
