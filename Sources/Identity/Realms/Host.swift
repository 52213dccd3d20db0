public import EventSourcing

/// One host name and the realm that it leads to.
public struct Host: StreamState {
    public private(set) var name = ""
    /// Nil after the release of the host.
    public private(set) var realm: RealmID?

    public init() {}

    public mutating func apply(_ event: HostEvent) {
        switch event {
        case .assigned(let host, let realm):
            name = host
            self.realm = realm
        case .released: realm = nil
        }
    }

    static func claim(_ host: String) -> Claim { Claim("host", host) }
}
