import API
import HTTP
import HTTPClient

/// Calls to addresses that strangers name. Only what is public is called, over TLS alone, and no redirect
/// is followed: a client must not have us ask our own network for something.
struct OutgoingCalls: Sendable {
    private static let largestDocument = 128 * 1024

    private let client: WebClient
    /// Pictures wait for no key, and no key waits for them.
    private let pictures: WebClient
    /// As many threads as services are looked at at once: of hosts that do not answer none waits for another.
    private let descriptions: WebClient
    /// Providers of push messages speak HTTP/2, and do not wait behind slow servers.
    private let providers: WebClient

    init(_ settings: Settings) throws {
        var configuration = Configuration()
        configuration.threads = 4
        configuration.maximumWaiting = 64
        configuration.connectTimeout = .seconds(3)
        configuration.timeout = .seconds(5)
        configuration.maximumBodyBytes = Self.largestDocument
        configuration.allowsHTTP = false
        configuration.caFile = settings[Settings.outgoingAuthorities]
        configuration.userAgent = "urd"
        configuration.destinations = .publicOnly(except: settings.outgoingNetworks)
        do {
            client = try WebClient(configuration)
            configuration.threads = ServiceCrawler.atOnce
            descriptions = try WebClient(configuration)
            configuration.threads = 2
            configuration.maximumWaiting = 16
            configuration.maximumBodyBytes = ClientLogos.largest
            pictures = try WebClient(configuration)
            configuration.threads = 4
            configuration.maximumWaiting = 256
            configuration.timeout = .seconds(15)
            configuration.maximumBodyBytes = 64 * 1024
            configuration.allowsHTTP2 = true
            providers = try WebClient(configuration)
        } catch {
            throw CommandFailure(
                "no other server can be called: \(error.debugDescription)",
                remedy: "See the outgoing-… settings (urd config print).")
        }
    }

    /// A key set; nil if it cannot be fetched, for any reason.
    func keys(at address: String) async -> [UInt8]? {
        var request = OutgoingRequest(url: address)
        request.headers["Accept"] = "application/jwk-set+json, application/json"
        guard let response = try? await client.send(request), response.status == .ok else {
            return nil
        }
        return response.body
    }

    /// What a service publishes of what it offers; nil if it cannot be fetched, for any reason.
    func description(at address: String) async -> [UInt8]? {
        var request = OutgoingRequest(url: address)
        request.headers["Accept"] = "text/plain, application/x-rsd+json, application/json"
        return await answer(request, by: descriptions)
    }

    /// What providers are asked for; nil where they do not say it.
    func ask(_ address: String, bearer: String?) async -> [UInt8]? {
        var request = OutgoingRequest(url: address)
        request.headers["Accept"] = "application/json"
        request.headers["Authorization"] = bearer.map { "Bearer \($0)" }
        return await answer(request)
    }

    /// What a provider answers a form with: what is in it, a code or an answer to a puzzle, is good once.
    func post(_ address: String, form: [UInt8], authorization: String?) async -> [UInt8]? {
        var request = OutgoingRequest(method: .post, url: address, body: form)
        request.headers["Accept"] = "application/json"
        request.headers["Content-Type"] = "application/x-www-form-urlencoded"
        request.headers["Authorization"] = authorization
        request.isSentOnce = true
        return await answer(request)
    }

    private func answer(_ request: OutgoingRequest, by other: WebClient? = nil) async -> [UInt8]? {
        guard let response = try? await (other ?? client).send(request), response.status == .ok
        else { return nil }
        return response.body
    }

    /// A picture; nil where none is to be had.
    func logo(at address: String) async -> [UInt8]? {
        var request = OutgoingRequest(url: address)
        request.headers["Accept"] = "image/png, image/jpeg, image/webp, image/gif"
        guard let response = try? await pictures.send(request), response.status == .ok else {
            return nil
        }
        return response.body
    }

    /// A message to a provider of push messages, or to a gateway.
    func push(_ call: ProviderCall) async -> ProviderAnswer {
        var request = OutgoingRequest(method: .post, url: call.address, body: call.body)
        request.isSentOnce = call.isSentOnce
        for (name, value) in call.headers { request.headers[name] = value }
        do {
            let response = try await providers.send(request)
            return .answered(
                status: response.status.code, body: response.body,
                retryAfter: response.headers["Retry-After"].flatMap { Int64($0) })
        } catch {
            switch error.code {
            case .forbiddenAddress, .invalidRequest: return .forbidden
            case .unknownHost, .unreachable, .untrusted, .busy, .closed, .library:
                return .unreachable
            case .timeout, .broken, .tooLarge, .refusedRedirect, .cancelled: return .unanswered
            }
        }
    }
}

extension Settings {
    /// Networks that are called although they are not public.
    var outgoingNetworks: [AddressRange] {
        self[Self.outgoingNetworks].compactMap { AddressRange("\($0)") }
    }

    /// Those that webhooks may be in beside them.
    var webhookNetworks: [AddressRange] {
        outgoingNetworks + self[Self.webhookAllow].compactMap { AddressRange("\($0)") }
    }
}
