import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import urd

@Suite struct `Where webhooks are sent` {
    private func outcome(of url: String) async throws -> String {
        let sender = try WebhookSender(
            ServeOptions(), keys: nil, now: { Timestamp(seconds: 1000) })
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

    @Test func `a receiver says when to call again in seconds, or by a date of HTTP`() {
        let now = Timestamp(seconds: 784_111_000)
        for (text, expected) in [
            ("120", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 777), ("Sun Nov  6 08:49:37 1994", 777),
            ("Sun, 06 Nov 1994 08:30:00 GMT", -400), ("soon", nil), ("", nil),
            ("Sun, 06 Nov 1994 08:49:37", nil), ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 6 1994 08:49:37 GMT", nil),
        ] as [(String, Int64?)] {
            #expect(RetryAfter.seconds(text, at: now) == expected, "\(text)")
        }
        // Of the fifty years ahead, or past.
        let later = Timestamp(seconds: 1_800_000_000)
        #expect((RetryAfter.seconds("Sunday, 06-Nov-76 08:49:37 GMT", at: later) ?? 0) > 0)
        #expect((RetryAfter.seconds("Sunday, 06-Nov-94 08:49:37 GMT", at: later) ?? 0) < 0)
        for (text, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 777), ("Sun, 06 Nov 1994 08:30:00 GMT", 0),
            ("Sun, 06 Nov 2094 08:49:37 GMT", 86_400),
        ] {
            var response = Response(status: Status(code: 503, reason: ""))
            response.headers["Retry-After"] = text
            #expect(WebhookAnswer(response, at: now).retryAfter == .seconds(seconds))
        }
    }

    @Test func `nothing is sent without TLS`() async throws {
        #expect(try await outcome(of: "http://127.0.0.1:1/") == "invalid_request")
    }
}
