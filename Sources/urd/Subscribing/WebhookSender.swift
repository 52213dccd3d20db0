import API
import Cryptography
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import Identity
import ReadModels
import Synchronization
import Values

/// Sends messages to addresses that administrators name. Only what is public is called, over TLS, and no
/// redirect is followed.
struct WebhookSender: Sendable {
    private let web: WebClient
    private let destinations: Destinations
    /// Nil where none sign beside the secrets.
    private let keys: WebhookKeys?
    private let now: @Sendable () -> Timestamp

    init(
        _ options: ServeOptions, keys: WebhookKeys?, now: @escaping @Sendable () -> Timestamp
    ) throws {
        var configuration = HTTPClient.Configuration()
        configuration.destinations = options.webhookDestinations
        configuration.caFile = options.authorities
        // One that hangs holds up to 32 of them until its first attempts are over, and one from then on.
        configuration.threads = 256
        configuration.maximumWaiting = 4096
        configuration.timeout = .seconds(15)
        configuration.connectTimeout = .seconds(3)
        // What is kept of an answer is shorter still.
        configuration.maximumBodyBytes = 1 << 16
        configuration.cutsBodies = true
        configuration.userAgent = "Urd-Webhooks"
        // Which addresses may be so is decided where they are set; without TLS they are loopback.
        configuration.allowsHTTP = options.allowsLoopback
        destinations = options.webhookDestinations
        web = try WebClient(configuration)
        self.keys = keys
        self.now = now
    }

    init(_ options: ServeOptions, _ store: Store, _ queries: ReadModelQueries) throws {
        try self.init(
            options, keys: WebhookKeys(store, queries), now: store.clock.now)
    }

    /// For a command: it calls what is public, the networks that the settings name, and this machine.
    init(_ settings: Settings, keys: WebhookKeys, now: @escaping @Sendable () -> Timestamp) throws {
        var options = ServeOptions()
        options.webhookDestinations = .publicOnly(
            except: settings.webhookNetworks + AddressRange.ofThisMachine)
        options.allowsLoopback = true
        options.authorities = settings[Settings.outgoingAuthorities]
        try self.init(options, keys: keys, now: now)
    }

    /// Whether such an address may be called at all.
    func mayCall(_ address: IPAddress) -> Bool { destinations.allow(address) }

    /// - Parameters:
    ///   - limit: the requests of one limit wait for each other.
    ///   - begins: called when the request's turn comes; false sends no request.
    func send(
        _ message: WebhookMessage, to subscription: Subscription, in realm: RealmID,
        within patience: Duration? = nil, limit: RequestLimit? = nil,
        begins: @escaping @Sendable () -> Bool = { true }
    ) async -> WebhookAnswer {
        var signing: [Ed25519.PrivateKey] = []
        if subscription.terms.signature == .both {
            guard let known = try? await keys?.signing(in: realm), !known.isEmpty else {
                return .notTried
            }
            signing = known
        }
        guard var request = try? message.request(subscription, keys: signing, at: now()) else {
            return WebhookAnswer(verdict: .refused, outcome: "no_secret")
        }
        request.timeout = patience ?? request.timeout
        let start = Start()
        var answer: WebhookAnswer
        do throws(HTTPClient.Failure) {
            let response = try await web.send(request, within: limit) {
                start.time.withLock { $0 = .now }
                return begins()
            }
            answer = WebhookAnswer(response, at: now())
        } catch {
            answer = WebhookAnswer(error)
        }
        answer.took = ContinuousClock.now - start.time.withLock { $0 }
        return answer
    }

    /// When an attempt began: what it waited for others before is no part of it.
    private final class Start: Sendable {
        let time = Mutex(ContinuousClock.now)
    }
}
