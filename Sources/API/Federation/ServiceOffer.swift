internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What a service offers (RSD2): what was said of it or found where it publishes it, with links that stand by
/// themselves, and the protocols that every service speaks.
struct ServiceOffer {
    private let service: FederationService
    private let place: Place

    /// The protocol of every token endpoint.
    static let plainProtocol = "org.ietf.oauth2"
    static let assertionProtocol = "urn:ietf:params:oauth:assertion"

    init(_ service: FederationService, _ place: Place) {
        self.service = service
        self.place = place
    }

    var protocols: Set<String> { Set(interfaces.keys) }

    var json: JSON {
        var members = said
        let home = homePage
        let engine = link(members["engineLink"]?.string, from: home ?? "") ?? address
        members["engineName"] = members["engineName"] ?? .string(name)
        members["engineLink"] = .string(engine)
        members["homePageLink"] = .string(home ?? engine)
        for name in ["homePageIcon"] {
            if let text = members[name]?.string {
                members[name] = link(text, from: home ?? engine).map { .string($0) }
            }
        }
        members["apis"] = .object(
            interfaces.mapValues { interface in
                guard var known = interface.object else { return interface }
                known["apiLink"] =
                    link(known["apiLink"]?.string, from: engine).map { .string($0) }
                    ?? .string(engine)
                return .object(known)
            })
        return .object(members)
    }

    /// The same for apps that put each link behind the home page's, without looking whether it is relative. Where
    /// the token endpoint is not below the home page, the root of its host stands there.
    var joined: JSON {
        guard var members = json.object, let interfaces = members["apis"]?.object else {
            return json
        }
        let endpoint = interfaces[Self.plainProtocol]?["apiLink"]?.string ?? ""
        var home = String(FederationService.bare(members["homePageLink"]?.string ?? ""))
        if Self.rest(endpoint, below: home) == nil {
            home = LinkResolution.origin(endpoint) ?? home
        }
        members["homePageLink"] = .string(home)
        members["apis"] = .object(
            interfaces.mapValues { interface in
                guard var known = interface.object, let link = known["apiLink"]?.string,
                    let rest = Self.rest(link, below: home)
                else { return interface }
                known["apiLink"] = .string(rest)
                return .object(known)
            })
        return .object(members)
    }

    /// What stands behind a home page in a link below it.
    private static func rest(_ link: String, below home: String) -> String? {
        guard !home.isEmpty, link.utf8.starts(with: home.utf8) else { return nil }
        let rest = link.utf8.dropFirst(home.utf8.count)
        guard let first = rest.first else { return "" }
        return "/?#".utf8.contains(first) ? String(Substring(rest)) : nil
    }

    private var said: JSONObject { service.client.metadata.serviceDescription?.object ?? [:] }
    private var name: String { service.client.metadata.clientName ?? service.clientID }
    private var address: String { service.address ?? place.endpoint(of: service) }
    private var homePage: String? {
        link(said["homePageLink"]?.string, from: service.client.metadata.clientURI ?? address)
            ?? service.client.metadata.clientURI
    }

    /// Those that it described, those that other apps may ask for, and the token endpoint itself.
    private var interfaces: JSONObject {
        var interfaces = said["apis"]?.object ?? [:]
        let endpoint = place.endpoint(of: service)
        for name in service.client.metadata.scope + [Self.plainProtocol, Self.assertionProtocol]
        where interfaces[name] == nil {
            let link = name == Self.plainProtocol ? Self.above(endpoint) : endpoint
            interfaces[name] = ["apiLink": .string(link)]
        }
        return interfaces
    }

    /// Apps add `/token` to the link of the plain protocol.
    private static func above(_ endpoint: String) -> String {
        endpoint.hasSuffix("/token") ? String(endpoint.dropLast("/token".count)) : endpoint
    }

    /// A relative link is resolved by the one above it: an interface's by the engine's, and that by the home page's.
    private func link(_ text: String?, from base: String) -> String? {
        guard let text else { return nil }
        return LinkResolution.resolve(text, from: base)
    }
}
