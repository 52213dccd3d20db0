public import EventSourcing

/// Software that runs on a person's data in a realm of the flagship profile: an app with pages, or
/// a konnector, which fetches from elsewhere.
public struct WebApp: StreamState {
    /// Nil before the registration.
    public private(set) var card: WebAppCard?
    public private(set) var isRemoved = false

    public init() {}

    public mutating func apply(_ event: WebAppEvent) {
        switch event {
        case .registered(let card), .updated(let card): self.card = card
        case .removed: isRemoved = true
        }
    }
}

extension Versioned<WebApp> {
    /// The description, while the web app is registered.
    public var living: WebAppCard? { state.isRemoved ? nil : state.card }
}

extension WebAppCard {
    /// A sub-domain is claimed exclusively, by a face of the realm as well as by an app: two never
    /// share one.
    var claims: [Claim] {
        var claims = [Claim(kind == .app ? "app" : "konnector", slug)]
        if let origin { claims.append(WebAppCard.originClaim(origin)) }
        return claims
    }

    static func originClaim(_ origin: String) -> Claim { Claim("web_app_origin", origin) }
}
