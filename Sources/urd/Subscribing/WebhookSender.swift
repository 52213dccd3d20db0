import EventSourcing
import HTTPClient
import Identity
import Synchronization
import Values

/// Sends messages to addresses that administrators name. Only what is public is called, over TLS, and no
/// redirect is followed.
struct WebhookSender: Sendable {
    private let web: WebClient
    private let now: @Sendable () -> Timestamp

    init(_ options: Service.Options, now: @escaping @Sendable () -> Timestamp) throws {
        var configuration = HTTPClient.Configuration()
        configuration.destinations = options.destinations
        configuration.caFile = options.authorities
        configuration.threads = 64
        configuration.maximumWaiting = 4096
        configuration.timeout = .seconds(15)
        configuration.connectTimeout = .seconds(3)
        configuration.maximumBodyBytes = 1 << 20
        configuration.userAgent = "Urd-Webhooks"
        // Which addresses may be so is decided where they are set; without TLS they are loopback.
        configuration.allowsHTTP = options.allowsLoopback
        web = try WebClient(configuration)
        self.now = now
    }

    /// For a command: it calls what is public, and the networks that the settings name.
    init(_ settings: Settings, now: @escaping @Sendable () -> Timestamp) throws {
        var options = Service.Options()
        options.destinations = .publicOnly(except: settings.outgoingNetworks)
        options.authorities = settings[Settings.outgoingAuthorities]
        try self.init(options, now: now)
    }

    func send(_ message: WebhookMessage, to subscription: Subscription) async -> WebhookAnswer {
        guard let request = try? message.request(subscription, at: now()) else {
            return WebhookAnswer(verdict: .refused, outcome: "no_secret")
        }
        let began = ContinuousClock.now
        var answer: WebhookAnswer
        do throws(HTTPClient.Failure) {
            answer = WebhookAnswer(try await web.send(request))
        } catch {
            answer = WebhookAnswer(error)
        }
        answer.took = ContinuousClock.now - began
        return answer
    }
}
