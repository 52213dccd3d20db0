public import EventSourcing
public import JSON
public import Values

/// The session at a provider by which an installation came in last: it is ended there with the
/// installation.
public struct InstallationUpstream: StreamState {
    public private(set) var provider: String?
    /// The provider's name for it. Nil: there is none, or it cannot be opened any more.
    public private(set) var name: String?

    public init() {}

    /// Follows from the client, so that it needs no look-up.
    public static func stream(of installation: UUID) -> UUID {
        UUID(high: installation.high, low: installation.low ^ 0x0000_7570_7300_0000)
    }

    public mutating func apply(_ event: InstallationUpstreamEvent) {
        switch event {
        case .bound(let provider, let name):
            self.provider = provider
            self.name = name
        }
    }
}

public enum InstallationUpstreamEvent: Event {
    case bound(provider: String, name: String?)

    /// Its holder may be able to end the session at the provider.
    static let providerSession: EventField =
        .text("sid", "Name of the session at the provider.", .personal(.administrators)).optional

    public static let catalogue: [EventShape] = [
        EventShape(
            "installation_upstream.bound", .internal,
            "The installation belongs to a session at a provider.",
            [
                .provider, providerSession,
            ])
    ]

    public var name: String { "installation_upstream.bound" }

    /// Sealed with the providers' secrets, because a provider may let anyone who knows it end the
    /// session.
    public var subject: UUID? { Providers.stream }

    public var fields: JSONObject {
        switch self {
        case .bound(let provider, let name):
            var fields: JSONObject = ["provider": .string(provider)]
            fields["sid"] = name.map { .string($0) }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "installation_upstream.bound", let provider = fields["provider"]?.string
        else { return nil }
        self = .bound(provider: provider, name: fields["sid"]?.string)
    }
}
