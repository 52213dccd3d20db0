/// How signals get to their receiver.
public enum SignalDelivery: Sendable, Equatable {
    /// Posted (RFC 8935). The header is sent with each of them; nil where there is none, or where it
    /// cannot be opened any more.
    case push(endpoint: String, authorization: String?)
    /// Fetched (RFC 8936).
    case poll

    public static let pushMethod = "urn:ietf:rfc:8935"
    public static let pollMethod = "urn:ietf:rfc:8936"

    public var method: String {
        switch self {
        case .push: Self.pushMethod
        case .poll: Self.pollMethod
        }
    }
}

/// What a receiver says of its stream.
public struct SignalSettings: Sendable, Equatable {
    /// The event types that it asks for, known here or not.
    public var requested: [String]
    public var delivery: SignalDelivery
    public var description: String?

    public init(
        requested: [String] = [], delivery: SignalDelivery = .poll, description: String? = nil
    ) {
        self.requested = requested
        self.delivery = delivery
        self.description = description
    }

    static let mostRequested = 50

    func check() throws(FieldFault) {
        guard requested.count <= Self.mostRequested else {
            throw FieldFault("events_requested", .tooMany(limit: Self.mostRequested))
        }
        for (index, type) in requested.enumerated()
        where !(1...255).contains(type.utf8.count) || !TextRule.isScopeName(type) {
            throw FieldFault("events_requested", .malformed, at: index)
        }
        if let description {
            do {
                try TextRule.label(description, limit: 200)
            } catch {
                throw FieldFault("description", error)
            }
        }
        guard case .push(let endpoint, let authorization) = delivery else { return }
        do {
            try Self.checkEndpoint(endpoint)
        } catch {
            throw FieldFault("endpoint_url", error)
        }
        guard let authorization else { return }
        guard (1...1024).contains(authorization.utf8.count),
            authorization.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw FieldFault("authorization_header", .malformed) }
    }

    /// Names may lead anywhere, which is looked at when they are called; an address in digits leads
    /// where it says, and no receiver on the internet has its certificate for one.
    private static func checkEndpoint(_ endpoint: String) throws(FieldFault.Reason) {
        try WebAddressRule.check(endpoint, mayBeLoopback: false)
        guard let host = AbsoluteURI(endpoint)?.host, !host.utf8.contains(0x5B),
            host.utf8.contains(where: TextRule.isLetter)
        else { throw .impossibleHost }
    }
}
