internal import HTTP
internal import Synchronization
internal import Values

public enum Scheme: String, Sendable {
    case http, https

    var port: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

/// Whom requests come from and which host they are for, in front of proxies or behind them.
///
/// Forwarding headers are believed only where the connection comes from a trusted proxy: any client
/// can send them.
public struct Forwarding: Sendable {
    /// The proxies that may speak for others. Each of them must set or remove these headers
    /// itself, as it does with `Host`.
    public let trusted: [Network]
    /// How requests arrive of which no proxy says anything.
    public let scheme: Scheme
    /// The ports under which this server is known: they may stand in links.
    public let ports: Set<UInt16>
    /// The header in which a trusted proxy tells the certificate that a client has shown to it (RFC
    /// 9440). It must set or remove it itself. Nil where no proxy does.
    public let certificateHeader: String?
    private let known = KnownHosts()

    public init(
        trusted: [Network] = [], scheme: Scheme = .http, ports: Set<UInt16> = [],
        certificateHeader: String? = nil
    ) {
        self.certificateHeader = certificateHeader
        self.trusted = trusted
        self.scheme = scheme
        self.ports = ports
    }

    func arrival(of request: Request) throws(Problem) -> Arrival {
        let hosts = request.headers.all("Host")
        guard hosts.count == 1, var host = known.host(hosts[0]) else {
            throw Problem(.malformedHost)
        }
        // What the system says of an address of four numbers is how it is written anyway.
        if trusted.isEmpty, !request.source.utf8.contains(UInt8(ascii: ":")) {
            return Arrival(host: host, scheme: scheme, address: request.source)
        }
        guard let peer = IPAddress(request.source)?.withoutMapping else {
            return Arrival(host: host, scheme: scheme, address: request.source)
        }
        guard isTrusted(peer) else {
            return Arrival(host: host, scheme: scheme, address: peer.description)
        }
        let told = try told(request.headers, by: peer)
        if let text = told.host {
            guard let forwarded = RequestHost(text) else { throw Problem(.malformedHost) }
            host = forwarded
        }
        var scheme = scheme
        if let text = told.scheme {
            guard let forwarded = Scheme(rawValue: text.lowercased()) else {
                throw Problem(.malformedForwarding)
            }
            scheme = forwarded
        }
        return Arrival(
            host: host, scheme: scheme, address: told.address.description,
            certificate: try certificate(request.headers))
    }

    private func certificate(_ headers: Headers) throws(Problem) -> CertificateThumbprint? {
        guard let name = certificateHeader else { return nil }
        let lines = headers.all(name).filter { !$0.isEmpty }
        guard let line = lines.first else { return nil }
        guard lines.count == 1, let thumbprint = CertificateThumbprint(header: line) else {
            throw Problem(.malformedForwarding)
        }
        return thumbprint
    }

    /// The standard's header goes before the others, which are as old as they are different. A
    /// proxy that knows only one kind passes the other on, even if the client wrote it: where both
    /// are there and differ, it is unknown which one is right.
    private func told(_ headers: Headers, by peer: IPAddress) throws(Problem) -> ForwardedRequest {
        let standard = try forwarded(headers, by: peer)
        let old = try xForwarded(headers, by: peer)
        guard let standard else { return old ?? ForwardedRequest(address: peer) }
        guard let old else { return standard }
        guard standard.address == old.address,
            old.host == nil || standard.host == old.host,
            old.scheme == nil || standard.scheme == old.scheme
        else { throw Problem(.malformedForwarding) }
        return standard
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        trusted.contains { $0.contains(address) }
    }
}

/// Hosts that were read before: requests name the same few again and again.
private final class KnownHosts: Sendable {
    private let hosts = Mutex(LeastRecent<String, RequestHost>(capacity: 1024))

    /// Texts are the same to a dictionary when Unicode says so, which is not enough here: only those of
    /// plain letters are looked up, and no other is a host.
    func host(_ text: String) -> RequestHost? {
        guard text.allBytesSatisfy({ $0 < 0x80 }) else { return nil }
        if let known = hosts.withLock({ $0.value(of: text) }) { return known }
        guard let host = RequestHost(text) else { return nil }
        hosts.withLock { $0.set(host, for: text) }
        return host
    }
}

/// What proxies say of a request.
private struct ForwardedRequest {
    var address: IPAddress
    var host: String?
    var scheme: String?
}

extension Forwarding {
    /// RFC 7239: each proxy adds an element behind the others, about whom it was asked by.
    private func forwarded(_ headers: Headers, by peer: IPAddress) throws(Problem)
        -> ForwardedRequest?
    {
        // Some proxies empty a header that they mean to remove.
        let lines = headers.all("Forwarded").filter { !$0.isEmpty }
        guard !lines.isEmpty else { return nil }
        guard let elements = ForwardedElement.list(lines) else {
            throw Problem(.malformedForwarding)
        }
        var told = ForwardedRequest(address: peer)
        for element in elements.reversed() {
            // Each of them was added by an address that is trusted. The one next to the client
            // knows what the client asked for.
            told.host = element.host ?? told.host
            told.scheme = element.proto ?? told.scheme
            guard let address = element.address else { return told }
            told.address = address
            if !isTrusted(address) { return told }
        }
        return told
    }

    /// A list of addresses that grows to the right; of the others there may be one value.
    private func xForwarded(_ headers: Headers, by peer: IPAddress) throws(Problem)
        -> ForwardedRequest?
    {
        let lines = headers.all("X-Forwarded-For")
        var told = ForwardedRequest(address: peer)
        told.host = try single(headers.all("X-Forwarded-Host"))
        told.scheme = try single(headers.all("X-Forwarded-Proto"))?.lowercased()
        if lines.isEmpty && told.host == nil && told.scheme == nil { return nil }
        let hops = lines.flatMap { parts($0) }
        for hop in hops.reversed() {
            // An unreadable hop ends the walk at the proxy that passed it on: never before it.
            guard let address = NodeAddress.read(hop) else { break }
            told.address = address
            if !isTrusted(address) { break }
        }
        return told
    }

    private func single(_ lines: [String]) throws(Problem) -> String? {
        let values = lines.filter { !$0.isEmpty }.flatMap { parts($0) }
        guard let first = values.first else { return nil }
        guard values.allSatisfy({ $0 == first }) else { throw Problem(.malformedForwarding) }
        return first
    }

    private func parts(_ line: String) -> [String] {
        line.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            part in
            String(decoding: part.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self)
        }
    }
}

/// How a request came in: what is believed of it, and nothing else.
struct Arrival: Sendable, Equatable {
    let host: RequestHost
    let scheme: Scheme
    /// The sender's address, as far as that can be known.
    let address: String
    /// What the client has shown in TLS.
    var certificate: CertificateThumbprint?
}
