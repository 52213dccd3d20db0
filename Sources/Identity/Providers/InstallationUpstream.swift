public import EventSourcing
public import Values

/// The session at a provider by which an installation came in last: it is ended there with the
/// installation.
public struct InstallationUpstream: StreamState {
    public private(set) var provider: String?
    /// The provider's name for it. Nil without a name, or where it cannot be decrypted any more.
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

public enum InstallationUpstreamEvent: FormedEvent {
    case bound(provider: String, name: String?)

    package enum Form {
        package static let bound = EventForm(
            "installation_upstream.bound", .internal, .detail,
            "The installation belongs to a session at a provider.", .provider, .providerSession,
            make: InstallationUpstreamEvent.bound)
    }

    public static let forms: EventForms<Self> = [Form.bound]

    /// Sealed with the providers' secrets, because a provider may let any caller who knows it end the
    /// session.
    public var subject: UUID? { Providers.stream }

    public var written: WrittenEvent {
        switch self {
        case .bound(let provider, let name): Form.bound(provider, name)
        }
    }
}

extension Field<String?> {
    /// Its holder may be able to end the session at the provider.
    static let providerSession = optional(
        .text("sid", "Name of the session at the provider.", .personal(.administrators)))
}
