internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
import Synchronization
internal import Values

/// Reads what services publish of what they offer: `services.txt` below their address or else at their host, and the
/// document (RSD2) that it names or is. A request for services is answered from the registry, and starts the crawl of
/// the services that are due.
public final class ServiceCrawler: Sendable {
    private let fetch: RemoteKeys.Fetch
    private let passed: @Sendable () -> Duration
    /// When each service is due, by this process: a restart asks once more.
    private let due = Mutex<[UUID: Duration]>([:])

    /// Cache lifetime of a response without Cache-Control, in seconds; then the bounds of one with it.
    private static let usual: Int64 = 86_400
    private static let least: Int64 = 300
    private static let most: Int64 = 7 * 86_400
    /// In all: a registry does not wait for hosts without end.
    public static let atOnce = 16

    init(passed: @escaping @Sendable () -> Duration, fetch: @escaping RemoteKeys.Fetch) {
        self.passed = passed
        self.fetch = fetch
    }

    /// Begins to look at those that are due; no request waits for it, and none of them for another: a host that
    /// does not answer delays its own service alone.
    func visit(
        _ services: [FederationService],
        keep: @escaping @Sendable (DescribeService) async -> Void
    ) {
        let chosen = take(services)
        guard !chosen.isEmpty else { return }
        for (service, host) in chosen {
            Task { [self] in
                guard let found = await read(host) else { return }
                due.withLock { $0[service] = passed() + .seconds(found.lifetime) }
                await keep(
                    DescribeService(
                        service: service, host: host, description: found.description))
            }
        }
    }

    /// Hosts that no task looks at now, and not again for a while, whether they answer or not.
    private func take(_ services: [FederationService]) -> [(service: UUID, host: String)] {
        let now = passed()
        return due.withLock { due in
            var chosen: [(service: UUID, host: String)] = []
            for service in services where chosen.count < Self.atOnce {
                guard let host = service.client.metadata.serviceHost,
                    due[service.client.id].map({ $0 <= now }) ?? true
                else { continue }
                due[service.client.id] = now + .seconds(Self.least)
                chosen.append((service.client.id, host))
            }
            return chosen
        }
    }

    private func read(_ host: String) async -> (description: JSON, lifetime: Int64)? {
        for list in Self.lists(of: host) {
            if let found = await read(list: list) { return found }
        }
        return nil
    }

    /// Where clients look for the list: below the service's address. Hosts that have it at their root alone are found
    /// all the same.
    static func lists(of host: String) -> [String] {
        let address = host.prefix { $0 != "?" && $0 != "#" }
        let near = FederationService.bare(String(address)) + "/services.txt"
        guard let root = LinkResolution.resolve("/services.txt", from: host) else { return [] }
        return near == root ? [root] : [String(near), root]
    }

    private func read(list: String) async -> (description: JSON, lifetime: Int64)? {
        guard let text = await fetch(list) else { return nil }
        if let document = Self.document(text) { return (document, Self.usual) }
        guard let entry = ServicesText(String(decoding: text, as: UTF8.self)),
            // What a host publishes is at that host: it must not send us elsewhere.
            let address = LinkResolution.resolve(entry.link, from: list),
            LinkResolution.origin(address) == LinkResolution.origin(list),
            let bytes = await fetch(address), let document = Self.document(bytes)
        else { return nil }
        return (document, min(max(entry.lifetime ?? Self.usual, Self.least), Self.most))
    }

    private static func document(_ bytes: [UInt8]) -> JSON? {
        let limits = JSON.Limits(
            depth: 16, size: ServiceDescription.limit, takesNull: false, takesFractions: true)
        guard let document = try? JSON.parse(bytes, limits: limits),
            ServiceDescription.isReadable(document)
        else { return nil }
        return document
    }
}

/// `services.txt`: lines with a type and a link, and how long the file is good.
struct ServicesText {
    let link: String
    /// Cache lifetime of the response in seconds.
    let lifetime: Int64?

    private static let type = "application/x-rsd+json"

    /// Nil where it names no document that we read.
    init?(_ text: String) {
        var link: String?
        var lifetime: Int64?
        for line in text.split(whereSeparator: \.isNewline).prefix(1_000) {
            let parts = line.split(separator: ";", maxSplits: 1)
            if parts.count == 2, Self.bare(parts[0]).lowercased() == Self.type, link == nil {
                link = Self.bare(parts[1])
            }
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2, Self.bare(pair[0]).lowercased() == "ttl" {
                lifetime = Int64(Self.bare(pair[1]))
            }
        }
        guard let link, !link.isEmpty else { return nil }
        self.link = link
        self.lifetime = lifetime
    }

    private static func bare(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
